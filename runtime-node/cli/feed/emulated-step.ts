import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Computes nothing for one batch's time, as a GPU does from this process's point of view. Returns the nanoseconds that
 * passed; ends early when the signal says so.
 */
export async function emulateStep(stepNs: number, signal: AbortSignal): Promise<number> {
  if (stepNs === 0) return 0;
  const begin = process.hrtime.bigint();
  try {
    await sleep(stepNs / 1e6, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return Number(process.hrtime.bigint() - begin);
}
