import { parentPort, workerData } from 'node:worker_threads';
import {
  type Observer,
  overrideScenario,
  type PipelineName,
  Recorder,
  type RunRecord,
  reportPage,
  type Scenario,
  simulate,
  timelineText,
} from '../../../simulator/index.js';
import { asOs2gError } from '../output/error-report.js';
import type { ErrorMessage, SimulateMessage, SimulateTask } from './messages.js';

// A thread of its own: a simulation is one long computation, and progress and signals must come through meanwhile.

const PROGRESS_EVERY_MS = 100;
const KEPT = { maxSteps: 20_000, maxRequests: 1_000, maxNodes: 4 };

const post = (message: SimulateMessage): void => parentPort!.postMessage(message);

/** Tells how far a run is; never more often than a display can show. */
class ProgressObserver implements Observer {
  readonly #pipeline: PipelineName;
  readonly #index: number;
  readonly #recorder: Recorder | null;
  #steps = 0;
  #lastMs = 0;

  constructor(pipeline: PipelineName, index: number, recorder: Recorder | null) {
    this.#pipeline = pipeline;
    this.#index = index;
    this.#recorder = recorder;
  }

  step(node: number, epoch: number, batch: number, startNs: number, endNs: number): void {
    this.#recorder?.step(node, epoch, batch, startNs, endNs);
    this.#steps++;
    const nowMs = performance.now();
    if (nowMs - this.#lastMs < PROGRESS_EVERY_MS) return;
    this.#lastMs = nowMs;
    const [pipeline, index, steps] = [this.#pipeline, this.#index, this.#steps];
    post({ kind: 'progress', pipeline, index, steps, nowNs: endNs });
  }
}

/** As the recorder, with steps told as progress. */
function withProgress(pipeline: PipelineName, index: number, recorder: Recorder | null): Observer {
  const progress = new ProgressObserver(pipeline, index, recorder);
  const step: Observer['step'] = (...facts) => progress.step(...facts);
  if (!recorder) return { step };
  return {
    get sampleEveryNs() {
      return recorder.sampleEveryNs;
    },
    begin: (...facts) => recorder.begin(...facts),
    sample: (...facts) => recorder.sample(...facts),
    request: (...facts) => recorder.request(...facts),
    end: (...facts) => recorder.end(...facts),
    step,
  };
}

/** The compute of a run, which it can hardly be shorter than. */
function expectedNs({ dataset, training, nodes }: Scenario): number {
  const perGpu = (dataset.samples * training.epochs) / (nodes * training.gpus);
  return (perGpu / training.gpu_samples_per_s) * 1e9;
}

async function work({ loaded, overrides, trace, wantsReport, wantsTimeline }: SimulateTask): Promise<void> {
  const scenario = overrideScenario(loaded.scenario, overrides, loaded.file);
  const records: RunRecord[] = [];
  const recorderFor = (pipeline: PipelineName): Recorder | null => {
    if (!wantsReport && !wantsTimeline) return null;
    const recorder = new Recorder(pipeline, { expectedNs: expectedNs(scenario), ...KEPT });
    records.push(recorder.record);
    return recorder;
  };
  let index = 0;
  const observer = (pipeline: PipelineName): Observer =>
    withProgress(pipeline, index++, recorderFor(pipeline));
  const result = await simulate(loaded, { ...overrides, observer, trace });
  post({
    kind: 'done',
    result,
    report: wantsReport ? reportPage(result, records) : null,
    timeline: wantsTimeline ? timelineText(scenario.name, records) : null,
  });
}

function errorMessage(thrown: unknown): ErrorMessage {
  const { code, message, mend, context, exitCode, stack } = asOs2gError(thrown);
  const { cause, ...rest } = context;
  const isOurs = code !== 'internal';
  return {
    isOurs,
    code,
    message,
    mend,
    context: rest,
    exitCode,
    stack: cause instanceof Error ? cause.stack : stack,
  };
}

try {
  await work(workerData as SimulateTask);
} catch (thrown) {
  post({ kind: 'failed', error: errorMessage(thrown) });
}
