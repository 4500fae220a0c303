import { Worker } from 'node:worker_threads';
import { type Remote, wrap } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { AbortedError } from '../../runtime-node/errors.js';
import { keptShare } from './shorten.js';
import type { EvaluateBatch, Evaluator, Trial, TrialOutcome, TrialSpace } from './trial.js';
import type { TrialWorker } from './worker.js';

/** A round trip to a worker takes some 70 us: what is sent at once should take far longer. */
const CHUNK_MS = 40;

/** Worker threads that run trials; outcomes do not depend on their number. */
export class WorkerEvaluator implements Evaluator {
  readonly #space: TrialSpace;
  readonly #workers: { thread: Worker; remote: Remote<TrialWorker> }[];
  readonly #broken: Promise<never>;
  /** Wall time of a whole run of each scenario, as far as it is known. */
  readonly #runMs: (number | undefined)[];

  constructor(space: TrialSpace, workers: number) {
    this.#space = space;
    this.#runMs = space.scenarios.map(() => undefined);
    const entry = new URL('./worker.js', import.meta.url);
    this.#workers = Array.from({ length: workers }, () => {
      const thread = new Worker(entry, { workerData: space });
      return { thread, remote: wrap<TrialWorker>(nodeEndpoint(thread)) };
    });
    // A thread that dies answers nothing more: without this the search would wait for ever.
    this.#broken = Promise.race(
      this.#workers.map(({ thread }) => new Promise<never>((_, reject) => thread.on('error', reject))),
    );
    this.#broken.catch(() => {});
  }

  readonly evaluate: EvaluateBatch = async (trials, { signal, onOutcomes } = {}) => {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    const outcomes = new Array<TrialOutcome>(trials.length);
    // Longest first: the batch then ends on all threads at about the same time.
    const order = trials.map((_, i) => i).sort((a, b) => trials[b]!.share - trials[a]!.share || a - b);
    let next = 0;
    const serve = async ({ remote }: { remote: Remote<TrialWorker> }): Promise<void> => {
      while (next < order.length && !signal?.aborted) {
        const chunk = order.slice(next, next + this.#chunkLength(trials, order, next));
        next += chunk.length;
        const answer = await remote.run(chunk.map((i) => trials[i]!));
        if (signal?.aborted) return;
        for (const [i, at] of chunk.entries()) outcomes[at] = answer.outcomes[i]!;
        onOutcomes?.(chunk.map((at) => [at, outcomes[at]!]));
        this.#learn(
          chunk.map((at) => trials[at]!),
          answer.wallMs,
        );
      }
    };
    let stop = (): void => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(new AbortedError(signal?.reason));
      signal?.addEventListener('abort', stop, { once: true });
    });
    try {
      await Promise.race([Promise.all(this.#workers.map(serve)), aborted, this.#broken]);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
    return outcomes;
  };

  /** Ends the threads, also in the middle of a run. */
  async close(): Promise<void> {
    await Promise.all(this.#workers.map(({ thread }) => thread.terminate()));
  }

  #chunkLength(trials: readonly Trial[], order: readonly number[], from: number): number {
    const fairShare = Math.ceil((order.length - from) / this.#workers.length);
    let ms = 0;
    let length = 0;
    while (length < fairShare && ms < CHUNK_MS) {
      ms += this.#expectedMs(trials[order[from + length]!]!);
      length++;
    }
    return length;
  }

  #expectedMs(trial: Trial): number {
    const whole = this.#runMs[trial.scenario];
    return whole === undefined ? CHUNK_MS : whole * this.#kept(trial);
  }

  #kept(trial: Trial): number {
    return keptShare(this.#space.scenarios[trial.scenario]!.scenario, trial.share);
  }

  #learn(chunk: readonly Trial[], wallMs: number): void {
    const work = chunk.reduce((sum, trial) => sum + this.#kept(trial), 0);
    for (const { scenario } of chunk) this.#runMs[scenario] = wallMs / work;
  }
}
