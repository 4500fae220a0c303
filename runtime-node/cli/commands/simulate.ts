import { command } from '../command.js';
import { SIMULATE_OPTIONS } from '../options/tables.js';

export const simulateCommand = command({
  name: 'simulate',
  summary: 'run a scenario in virtual time: pipelines compared, the bound, where the time goes',
  args: [
    {
      form: '[scenario]',
      meaning:
        'a scenario file (os2g.scenario/1, docs/scenario.md); without one, the scenario of the profile that --profile names',
    },
    { form: '[names...]', meaning: 'further names after --pipeline' },
  ],
  options: SIMULATE_OPTIONS,
  examples: [
    'os2g simulate --profile paper --pipeline s3connector os2g',
    'os2g simulate scenario.json --report run.html --timeline run.json',
    'os2g simulate scenario.json --pipeline os2g --set concurrency.max=64 --trace run.trace',
    'os2g simulate scenario.json --policy tuned.json --nodes 4 --json',
  ],
  async run(words, values, context) {
    const { runSimulate } = await import('../simulate/run-simulate.js');
    return runSimulate(
      words.filter((word) => word !== undefined),
      values,
      context,
    );
  },
});
