import type { PipelineResult } from '../result.js';
import type { PipelineName } from '../scenario/types.js';

/** A change from one pipeline to another, as shares: -0.25 is a quarter less. */
export interface Step {
  step: string;
  from: PipelineName;
  to: PipelineName;
  epoch_s_change: number;
  host_cpu_s_change: number;
}

/** What the comparison is about: three steps, each of which changes one thing, and the whole way against both peers. */
const STEPS: readonly (readonly [string, PipelineName, PipelineName])[] = [
  ['better client', 's3connector', 'os2g-host'],
  ['off the host', 'os2g-host', 'relay'],
  ['direct', 'relay', 'os2g'],
];
const WHOLE: readonly (readonly [string, PipelineName, PipelineName])[] = [
  ['all three', 's3connector', 'os2g'],
  ['against s3fs', 's3fs', 'os2g'],
];

/** Mean of a run's epochs, seconds; NaN where it did not come to its end. */
export function epochSeconds({ epoch_s }: PipelineResult): number {
  return epoch_s.length === 0 ? Number.NaN : epoch_s.reduce((a, b) => a + b) / epoch_s.length;
}

/** How far a run's epochs are above the least time that any policy could need, as a share. */
export function aboveBound(result: PipelineResult): number {
  return result.bound.epoch_s > 0 ? epochSeconds(result) / result.bound.epoch_s - 1 : Number.NaN;
}

/** The steps whose two pipelines both ran to their end. */
export function stepsOf(results: readonly PipelineResult[]): Step[] {
  const finished = new Map(
    results.filter(({ failed }) => !failed).map((result) => [result.pipeline, result]),
  );
  return [...STEPS, ...WHOLE].flatMap(([step, from, to]) => {
    const [before, after] = [finished.get(from), finished.get(to)];
    if (!before || !after) return [];
    return [
      {
        step,
        from,
        to,
        epoch_s_change: change(epochSeconds(before), epochSeconds(after)),
        host_cpu_s_change: change(before.host_cpu_s, after.host_cpu_s),
      },
    ];
  });
}

/** From nothing to nothing is no change. */
function change(before: number, after: number): number {
  if (before === after) return 0;
  return before === 0 ? Number.POSITIVE_INFINITY : after / before - 1;
}
