/** Batches that the loaders of all GPUs have in the making: how far each may run ahead, what has landed, and whose memory it is. */
export class BatchLedger {
  /** Most bytes that the batches of one node held at once. */
  peakBytes = 0;
  readonly #ahead: number;
  readonly #room: number;
  readonly #asked: Float64Array; // by node: the batch that its trainer wants
  readonly #next: Uint32Array; // by GPU of all nodes: the next batch to deliver
  readonly #bytes: Float64Array; // by GPU and batch
  readonly #landed: Float64Array; // number of the batch that landed in this place
  readonly #used: Float64Array; // by node

  /** @param ahead batches that may be begun, the one that the trainer asks for included */
  constructor(nodes: number, gpus: number, ahead: number) {
    this.#ahead = ahead;
    this.#room = ahead + 1;
    this.#asked = new Float64Array(nodes);
    this.#next = new Uint32Array(nodes * gpus);
    this.#bytes = new Float64Array(nodes * gpus * this.#room);
    this.#landed = new Float64Array(nodes * gpus * this.#room).fill(-1);
    this.#used = new Float64Array(nodes);
  }

  asked(node: number, batch: number): void {
    this.#asked[node] = batch;
  }

  mayBegin(node: number, batch: number): boolean {
    return batch < this.#asked[node]! + this.#ahead;
  }

  nextBatch(gpu: number): number {
    return this.#next[gpu]!;
  }

  #at(gpu: number, batch: number): number {
    return gpu * this.#room + (batch % this.#room);
  }

  take(node: number, gpu: number, batch: number, bytes: number): void {
    this.#bytes[this.#at(gpu, batch)]! += bytes;
    this.#used[node]! += bytes;
    if (this.#used[node]! > this.peakBytes) this.peakBytes = this.#used[node]!;
  }

  bytes(gpu: number, batch: number): number {
    return this.#bytes[this.#at(gpu, batch)]!;
  }

  landed(gpu: number, batch: number): void {
    this.#landed[this.#at(gpu, batch)] = batch;
  }

  hasLanded(gpu: number, batch: number): boolean {
    return this.#landed[this.#at(gpu, batch)] === batch;
  }

  delivered(gpu: number): void {
    this.#next[gpu]!++;
  }

  /** The batch was computed. */
  free(node: number, gpu: number, batch: number): void {
    const at = this.#at(gpu, batch);
    this.#used[node]! -= this.#bytes[at]!;
    this.#bytes[at] = 0;
  }

  usedBytes(node: number): number {
    return this.#used[node]!;
  }
}
