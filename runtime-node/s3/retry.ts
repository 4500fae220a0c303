import { setTimeout as pause } from 'node:timers/promises';

const ATTEMPTS = 5;
const BASE_MS = 100;
const CAP_MS = 5000;

/**
 * The one place where list and head calls are tried again: five attempts, exponential backoff with full jitter. (Reads
 * of objects are not tried again here: that is the core's.)
 *
 * @param isPassing whether the same call may succeed a little later
 */
export async function withRetries<T>(
  call: (attempt: number) => Promise<T>,
  isPassing: (cause: unknown) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (cause) {
      if (attempt === ATTEMPTS || !isPassing(cause)) throw cause;
    }
    await pause(Math.random() * Math.min(BASE_MS * 2 ** attempt, CAP_MS), undefined, { signal });
  }
}
