import { command } from '../command.js';

export const demoCommand = command({
  name: 'demo',
  summary: 'the main job on an embedded store: sync, readahead and os2g compared, every byte checked',
  args: [],
  options: {},
  examples: ['os2g demo', 'os2g demo --json'],
  async run(_args, _values, context) {
    const { runDemo } = await import('../demo/run-demo.js');
    return runDemo(context);
  },
});
