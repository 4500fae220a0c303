import { command } from '../command.js';
import { REPLAY_OPTIONS } from '../options/tables.js';
import { formatCount } from '../output/numbers.js';
import { facts } from '../output/table.js';

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
      ['events', formatCount(outcome.events)],
    ]);
    return {
      document: { schema: 'os2g.replay-result/1', host, ...outcome },
      text,
      exitCode: outcome.match ? 0 : 1,
    };
  },
});
