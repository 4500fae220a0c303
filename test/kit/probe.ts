import { Core, type CoreBuild } from '../../runtime-node/core.js';
import { type JobSpec, jobConfig } from '../../runtime-node/policy/job.js';
import { type PolicySpec, resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { type Action, type ActionOf, drainActions } from './records.js';

export interface ProbeOptions extends PolicySpec {
  job: JobSpec;
  /** Which build (default: `OS2G_CORE`, else release), or the bytes of a core under test. */
  build?: CoreBuild | Uint8Array;
}

/**
 * A core under the hands of a test: push events, step at a virtual time, look at the actions.
 *
 *     const probe = await probeCore({ job: { samples: 10, batchSamples: 2 }, preset: 'sync' });
 *     const [resolve] = probe.step(0).filter(isKind('resolve'));
 */
export class Probe {
  readonly core: Core;
  readonly config: Float64Array;

  constructor(core: Core, config: Float64Array) {
    this.core = core;
    this.config = config;
    core.init(config);
  }

  /** Steps at `nowNs` until the core has nothing more to say at that time; returns all actions. */
  step(nowNs: number): Action[] {
    const actions: Action[] = [];
    do {
      this.core.step(nowNs);
      actions.push(...drainActions(this.core));
    } while (this.core.more);
    return actions;
  }

  /** As `step`, and every RESOLVE is answered at once by `place`; returns the other actions. */
  stepResolving(nowNs: number, place: (row: number) => SamplePlace): Action[] {
    const others: Action[] = [];
    for (;;) {
      const actions = this.step(nowNs);
      const resolves = actions.filter(isKind('resolve'));
      others.push(...actions.filter((a) => a.kind !== 'resolve'));
      if (resolves.length === 0) return others;
      for (const { slot, row } of resolves) {
        const { object, offset, length } = place(row);
        if (this.core.events.free === 0) others.push(...this.step(nowNs));
        this.core.events.resolved(nowNs, slot, object, offset, length);
      }
    }
  }
}

/** Where a sample is: what a manifest knows of a row. */
export interface SamplePlace {
  object: number;
  offset: number;
  length: number;
}

/** Builds a core with a job and a policy, started at virtual time 0. */
export async function probeCore(options: ProbeOptions): Promise<Probe> {
  const core = await Core.load(options.build);
  return new Probe(core, jobConfig(options.job, resolvePolicy(options)));
}

/** A filter that narrows actions to one kind. */
export function isKind<K extends Action['kind']>(kind: K): (action: Action) => action is ActionOf<K> {
  return (action): action is ActionOf<K> => action.kind === kind;
}
