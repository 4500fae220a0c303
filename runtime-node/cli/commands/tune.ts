import { command } from '../command.js';
import { TUNE_OPTIONS } from '../options/tune.js';

export const tuneCommand = command({
  name: 'tune',
  summary: 'search settings of the policy in the simulator and write a policy file',
  args: [
    { form: '<scenarios...>', meaning: 'scenario files (os2g.scenario/1) that the policy is to be good for' },
  ],
  options: TUNE_OPTIONS,
  examples: [
    'os2g tune scenario.json -o tuned.json',
    'os2g tune scenario.json --objective memory --constraint "epoch_time<=1.01x" -o small.json',
    'os2g tune a.json b.json --robust worst --time 30min --journal tune.jsonl -o tuned.json',
    'os2g feed s3://bucket/train --policy tuned.json',
  ],
  async run(words, values, context) {
    const { runTune } = await import('../tune/run-tune.js');
    return runTune(
      words.filter((word) => word !== undefined),
      values,
      context,
    );
  },
});
