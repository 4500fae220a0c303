import { constants } from 'node:buffer';
import { ConfigError, Os2gError } from '../errors.js';
import type { NativeCudaHandle, NativeModule, NativeTransferFailure } from '../native/module.js';
import * as records from '../native/module.js';
import { tellBytes } from '../policy/units.js';
import { option, words } from '../wording.js';
import type { LandingBackend, LandingSizes, PlaceSink } from './landing.js';
import { tooLarge } from './memory.js';
import { type TransferFailure, transferFailure } from './transfer-failure.js';

const SUBMISSIONS = 256;
const COMPLETIONS = 256;
/** Counted among the GPUs that CUDA_VISIBLE_DEVICES leaves. */
export const DEVICE = 0;

/** The file of the CUDA driver, where it is not to be found by its usual name. */
export function cudaLibrary(): string | undefined {
  return process.env.OS2G_CUDA_LIBRARY || undefined;
}

/**
 * Landing memory on a GPU. GETs write into page-locked staging memory of the host; the GPU copies from there, while this thread
 * goes on.
 * @throws ConfigError `memory_too_large` where host or GPU do not give so much; `landing_unavailable`
 */
export function createCudaLanding(native: NativeModule, sizes: LandingSizes): LandingBackend {
  if (sizes.stagingBytes > constants.MAX_LENGTH) throw tooLarge(sizes.stagingBytes);
  return new CudaLanding(native, sizes);
}

class CudaLanding implements LandingBackend {
  readonly name = 'cuda';
  readonly inPlace = false;
  readonly direct = false;
  onWake: (() => void) | null = null;
  readonly #handle: NativeCudaHandle;
  readonly #staging: Uint8Array;

  readonly #submitWords: Uint32Array;
  readonly #submitNumbers: Float64Array;
  readonly #doneWords: Uint32Array;
  #pending = 0;
  #running = 0;

  #isArmed = false;
  #wakeSoon: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;
  /** The driver's threads do not: only while something is copied does the process stay. */
  readonly #keepsAlive = setInterval(() => {}, 2 ** 31 - 1).unref();

  constructor(native: NativeModule, sizes: LandingSizes) {
    const submissions = new ArrayBuffer(SUBMISSIONS * records.RECORD_BYTES);
    const completions = new ArrayBuffer(COMPLETIONS * records.RECORD_BYTES);
    this.#submitWords = new Uint32Array(submissions);
    this.#submitNumbers = new Float64Array(submissions);
    this.#doneWords = new Uint32Array(completions);
    const opened = native.openCuda(
      { ...sizes, device: DEVICE, library: cudaLibrary() },
      new Uint8Array(submissions),
      new Uint8Array(completions),
      () => this.#woken(),
    );
    if ('what' in opened) {
      clearInterval(this.#keepsAlive);
      throw notOpened(opened, sizes);
    }
    this.#handle = opened;
    this.#staging = opened.staging();
  }

  landing(consumer: number): Uint8Array {
    throw new Error(`landing memory of consumer ${consumer} is a GPU's: it has no address here`);
  }

  staging(): Uint8Array {
    return this.#staging;
  }

  bytes(consumer: number, offset: number, length: number): Uint8Array {
    const copy = new Uint8Array(length);
    const failed = this.#handle.read(consumer, offset, copy);
    if (failed === null) return copy;
    const { message, mend } = transferFailure(failed);
    throw new Os2gError(
      'transfer',
      `${tellBytes(length)} cannot be read back from landing memory: ${message}`,
      mend,
    );
  }

  place(id: number, attempt: number, consumer: number, from: number, to: number, length: number): boolean {
    if (this.#closing !== null) throw new Error('place() on closed landing memory');
    if (this.#running++ === 0) this.#keepsAlive.ref();
    if (this.#pending === SUBMISSIONS) this.#flush();
    const word = this.#pending++ * records.RECORD_WORDS;
    const number = word >> 1;
    this.#submitWords[word + records.PLACE_W_ID] = id;
    this.#submitWords[word + records.PLACE_W_ATTEMPT] = attempt;
    this.#submitWords[word + records.PLACE_W_CONSUMER] = consumer;
    this.#submitNumbers[number + records.PLACE_D_FROM] = from;
    this.#submitNumbers[number + records.PLACE_D_TO] = to;
    this.#submitNumbers[number + records.PLACE_D_LENGTH] = length;
    return false;
  }

  drain(sink: PlaceSink, max: number): number {
    if (this.#closing !== null) return 0;
    this.#flush();
    let taken = 0;
    while (taken < max) {
      const count = this.#handle.poll(Math.min(max - taken, COMPLETIONS));
      if (count === 0) break;
      this.#take(sink, count);
      taken += count;
    }
    return taken;
  }

  arm(): void {
    if (this.#closing !== null) return;
    this.#flush();
    this.#isArmed = true;
    if (this.#handle.arm()) this.#wakeSoon ??= setImmediate(() => this.#woken());
  }

  failure(id: number): TransferFailure | undefined {
    const failed = this.#handle.failure(id);
    return failed === null ? undefined : transferFailure(failed);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    if (this.#wakeSoon !== null) clearImmediate(this.#wakeSoon);
    this.#isArmed = false;
    this.#pending = 0;
    clearInterval(this.#keepsAlive);
    const failed = await this.#handle.close();
    if (failed === null) return;
    const { message, mend } = transferFailure(failed);
    throw new Os2gError('transfer', `landing memory was not given back: ${message}`, mend);
  }

  #flush(): void {
    const count = this.#pending;
    if (count === 0) return;
    this.#pending = 0;
    this.#handle.submit(count);
  }

  #take(sink: PlaceSink, count: number): void {
    for (let n = 0; n < count; n++) {
      const word = n * records.RECORD_WORDS;
      const id = this.#doneWords[word + records.PLACED_W_ID]!;
      const attempt = this.#doneWords[word + records.PLACED_W_ATTEMPT]!;
      if (this.#doneWords[word] === records.PLACED) sink.placed(id, attempt);
      else sink.placeFailed(id, attempt);
    }
    this.#running -= count;
    if (this.#running === 0) this.#keepsAlive.unref();
  }

  #woken(): void {
    if (this.#wakeSoon !== null) clearImmediate(this.#wakeSoon);
    this.#wakeSoon = null;
    if (!this.#isArmed || this.#closing !== null) return;
    this.#isArmed = false;
    this.onWake?.();
  }
}

function notOpened(failed: NativeTransferFailure, sizes: LandingSizes): ConfigError {
  const { name, message, mend } = transferFailure(failed);
  const { consumers, landingBytes, stagingBytes } = sizes;
  if (name === 'CUDA_ERROR_OUT_OF_MEMORY') {
    return new ConfigError(
      'memory_too_large',
      `landing memory of ${tellBytes(consumers * landingBytes)} on GPU ${DEVICE}, with ${tellBytes(stagingBytes)} of page-locked memory beside it, cannot be had: ${message}`,
      words`free GPU memory (nvidia-smi shows who holds it), or lower ${option('memoryBytes')}`,
      { option: 'memoryBytes' },
    );
  }
  return new ConfigError('landing_unavailable', `landing: cuda cannot be had: ${message}`, mend, {
    option: 'landing',
  });
}
