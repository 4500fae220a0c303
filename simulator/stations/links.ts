/** PCIe links of one kind: each serves its transfers whole, first come first served. */
export class Links {
  readonly #freeNs: Float64Array;
  readonly #bytesPerNs: number;

  constructor(links: number, bytesPerNs: number) {
    this.#freeNs = new Float64Array(links);
    this.#bytesPerNs = bytesPerNs;
  }

  /** A transfer that comes now; returns when it ends. */
  transfer(nowNs: number, link: number, bytes: number): number {
    const freeNs = this.#freeNs[link]!;
    const endNs = Math.max(freeNs, nowNs) + Math.round(bytes / this.#bytesPerNs);
    this.#freeNs[link] = endNs;
    return endNs;
  }
}
