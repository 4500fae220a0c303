/** The timing simulator: `os2g/simulator`. */
export type { Bound, BoundBy } from './bound.js';
export { CorePool } from './core-pool.js';
export type { Distribution } from './distribution.js';
export type { NodeSample, Observer, RequestObserver } from './observer.js';
export { DEFAULT_PROFILE, PROFILES } from './profiles/index.js';
export type { Basis, ParameterNote, Profile } from './profiles/parameter.js';
export { reportPage } from './report/page.js';
export { Recorder, type RecorderOptions, type RunRecord } from './report/recorder.js';
export { aboveBound, epochSeconds, type Step, stepsOf } from './report/steps.js';
export type { Fairness, PipelineResult, SimulateResult, StallSeconds } from './result.js';
export { STALL_NAMES } from './run.js';
export {
  type LoadedScenario,
  type LoadOptions,
  loadScenario,
  type Overrides,
  overrideScenario,
} from './scenario/load.js';
export {
  FAULT_KINDS,
  type Fault,
  PIPELINE_NAMES,
  type PipelineName,
  type Scenario,
} from './scenario/types.js';
export { coresNeeded, type SimulateOptions, simulate, simulateNow } from './simulate.js';
export { type TraceEvent, timelineEvents, timelineText } from './timeline/timeline.js';
