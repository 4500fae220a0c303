// A command that hears of the signal and does not end: what only a second signal can end.
import { command } from '../../../runtime-node/cli/command.js';
import { main } from '../../../runtime-node/cli/main.js';

const stuck = command({
  name: 'stuck',
  summary: 'never ends',
  args: [],
  options: {},
  examples: [],
  run: (_args, _values, { signal, log }) => {
    signal.addEventListener('abort', () => log.info('heard'));
    log.info('begun');
    return new Promise(() => setInterval(() => {}, 1e6));
  },
});
await main([stuck]);
