import { parentPort, workerData } from 'node:worker_threads';
import { expose } from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import { trialRunner } from './evaluate-here.js';
import type { Trial, TrialOutcome, TrialSpace } from './trial.js';

/** What a worker thread offers. */
export interface TrialWorker {
  /** @returns the outcomes in order, and how long they took */
  run(trials: readonly Trial[]): Promise<{ outcomes: TrialOutcome[]; wallMs: number }>;
}

if (!parentPort) throw new Error('this file is the entry of a worker thread');
const runner = trialRunner(workerData as TrialSpace);

const worker: TrialWorker = {
  async run(trials) {
    const ready = await runner;
    const start = performance.now();
    const outcomes = ready.run(trials);
    return { outcomes, wallMs: performance.now() - start };
  },
};
expose(worker, nodeEndpoint(parentPort));
