import { Worker } from 'node:worker_threads';
import { AbortedError, ConfigError, Os2gError } from '../../errors.js';
import type { ErrorMessage, SimulateMessage, SimulateTask } from './messages.js';

export type Progressed = Extract<SimulateMessage, { kind: 'progress' }>;
export type Simulated = Extract<SimulateMessage, { kind: 'done' }>;

/**
 * Runs a simulation in a thread of its own, which the signal ends at once.
 * @throws what the simulation threw; AbortedError
 */
export async function runInWorker(
  task: SimulateTask,
  signal: AbortSignal,
  onProgress: (progress: Progressed) => void,
): Promise<Simulated> {
  signal.throwIfAborted();
  const worker = new Worker(new URL('./worker.js', import.meta.url), { workerData: task });
  let abort = (): void => {};
  try {
    return await new Promise<Simulated>((resolve, reject) => {
      abort = () => reject(new AbortedError(signal.reason, 'the simulation was interrupted', 'run it again'));
      signal.addEventListener('abort', abort, { once: true });
      worker.on('message', (message: SimulateMessage) => {
        if (message.kind === 'progress') onProgress(message);
        else if (message.kind === 'done') resolve(message);
        else reject(errorOf(message.error));
      });
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the simulation's thread ended with code ${code}`)));
    });
  } finally {
    signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function errorOf({ isOurs, code, message, mend, context, exitCode, stack }: ErrorMessage): Error {
  const cause = new Error(message);
  cause.stack = stack;
  if (!isOurs) return new Os2gError(code, message, mend, { cause });
  if (exitCode === 2) return new ConfigError(code, message, mend, { ...context, cause });
  return new Os2gError(code, message, mend, { ...context, cause }, exitCode);
}
