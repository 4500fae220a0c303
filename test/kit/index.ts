/**
 * `os2g/testing`: for people who write or tune policies. Build a core, push events at virtual times, look at its actions; or
 * run a whole epoch against a table of latencies and faults, in virtual time, with every byte checked.
 */
export * as layout from '../../assembly/layout.js';
export { contentByte, type Draw, seededDraws } from './draws.js';
export { isKind, type Probe, type ProbeOptions, probeCore, type SamplePlace } from './probe.js';
export type { Action, ActionOf } from './records.js';
export type { DeliveredBatch, RunReport } from './report.js';
export { type Feeder, runWorld, runWorlds } from './run.js';
export { RequestCap, STALL_NAMES, type VirtualFault, type VirtualRequest, type World } from './world.js';
