import type { NativeTransferFailure } from '../native/module.js';

/** Why bytes could not be moved, or memory not be had. */
export interface TransferFailure {
  /** The driver's own name for it, such as `CUDA_ERROR_OUT_OF_MEMORY`; null where it was not the driver. */
  readonly name: string | null;
  /** What happened, to stand in a sentence. */
  readonly message: string;
  readonly mend: string;
}

/** The native module speaks in whole sentences; those of errors here are parts of one. */
export function transferFailure({ name, what, mend }: NativeTransferFailure): TransferFailure {
  return { name, message: clause(what), mend: clause(mend) };
}

function clause(sentence: string): string {
  const text = sentence.replace(/\.$/, '');
  // GPU and CUDA stay as they are.
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
