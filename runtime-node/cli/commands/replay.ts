import { command } from '../command.js';
import { REPLAY_OPTIONS } from '../options/tables.js';
import { formatCount } from '../output/numbers.js';
import { facts } from '../output/table.js';
import type { ReplayOutcome } from '../replay/hosts.js';

export const replayCommand = command({
  name: 'replay',
  summary: 'run a recorded trace through the core and compare the run hashes',
  args: [{ form: '<trace>', meaning: 'a file that `os2g feed --trace` wrote' }],
  options: REPLAY_OPTIONS,
  examples: ['os2g replay run.trace', 'os2g replay run.trace --host wasmtime --json'],
  async run([trace = ''], { host }, context) {
    const { replay } = await import('../replay/hosts.js');
    const outcome = await replay(trace, host, context);
    if (outcome.truncated)
      context.log.warn(`${trace} was cut off: it was replayed up to its last whole step`);
    const text = facts([
      ['run_hash', outcome.run_hash],
      ['recorded_run_hash', outcome.recorded_run_hash ?? 'none: the trace was cut off'],
      ['match', String(outcome.match)],
      ...(outcome.match ? [] : [['first difference', differenceText(outcome)] as const]),
      ['events', formatCount(outcome.events)],
      [
        'core',
        `sha256 ${outcome.core_sha256}${outcome.core_sha256 === outcome.recorded_core_sha256 ? ', as recorded' : ''}`,
      ],
      ...(outcome.core_sha256 === outcome.recorded_core_sha256
        ? []
        : [['recorded by', `sha256 ${outcome.recorded_core_sha256}, another build`] as const]),
    ]);
    return {
      document: { schema: 'os2g.replay-result/1', host, ...outcome },
      text,
      exitCode: outcome.match ? 0 : 1,
    };
  },
});

function differenceText({ first_difference: step, steps }: ReplayOutcome): string {
  if (step === null) return `after the last step (${formatCount(steps)} steps)`;
  return step === 0
    ? 'before the first step: another core or configuration'
    : `before step ${formatCount(step)} (of ${formatCount(steps)}, counted from 0): step ${formatCount(step - 1)} came to something else`;
}
