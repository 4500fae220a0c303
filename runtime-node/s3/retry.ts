import { setTimeout as pause } from 'node:timers/promises';

const ATTEMPTS = 5;
/** Each that gets no answer takes the whole time limit. */
const SILENT_ATTEMPTS = 3;
const BASE_MS = 100;
const CAP_MS = 5000;

/**
 * The one place where list and head calls are tried again: five attempts, three where the store
 * is silent, exponential backoff with full jitter. (Reads of objects are not tried again here: that is the core's.)
 *
 * @param judge whether the same call may succeed a little later, and whether it ended without an answer in time
 * @param onRetry told of each attempt that failed and is followed by another
 */
export async function withRetries<T>(
  call: (attempt: number) => Promise<T>,
  judge: (cause: unknown) => { passing: boolean; silent: boolean },
  onRetry: (cause: unknown, attempt: number) => void,
  signal?: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (cause) {
      const { passing, silent } = judge(cause);
      if (!passing || attempt >= (silent ? SILENT_ATTEMPTS : ATTEMPTS)) throw cause;
      onRetry(cause, attempt);
    }
    await pause(Math.random() * Math.min(BASE_MS * 2 ** attempt, CAP_MS), undefined, { signal });
  }
}
