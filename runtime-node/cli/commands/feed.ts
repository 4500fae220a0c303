import { AbortedError } from '../../errors.js';
import { type CommandContext, type CommandResult, command } from '../command.js';
import { type FeedValues, feedOptions } from '../feed/feed-options.js';
import { FEED_OPTIONS, S3_OPTIONS } from '../options/tables.js';
import { settingsDocument, settingsText } from '../settings-table.js';

export const feedCommand = command({
  name: 'feed',
  summary: 'read epochs of a data set in training order into landing memory',
  args: [
    {
      form: '[source]',
      meaning: 's3://bucket/prefix: indexed in memory as `os2g index` does; --format says what a sample is',
    },
  ],
  options: { ...FEED_OPTIONS, ...S3_OPTIONS },
  examples: [
    'os2g feed s3://bucket/train --batch-samples 256 --epochs 2 --seed 7',
    'os2g feed s3://bucket/shards/ --format tar --batch-samples 256',
    'os2g feed --manifest train.arrow --batch-samples 256 --step-time 100ms --cursor-out run.cursor',
    'os2g feed --manifest train.arrow --epochs 2 --cursor-out run.cursor --resume run.cursor',
  ],
  async run([source], values, context) {
    if (values.helpSettings) return { document: settingsDocument(), text: settingsText() };
    return feed(source, values, context);
  },
});

async function feed(
  source: string | undefined,
  values: FeedValues,
  context: CommandContext,
): Promise<CommandResult> {
  const { resumedCursor } = await import('../../feed/resume.js');
  const { runFeed } = await import('../feed/run-feed.js');
  const { resultText, stoppedText } = await import('../feed/report.js');
  const options = feedOptions(source, values, resumedCursor(values) !== null);
  const { stats, start, stopped, inHand } = await runFeed(options, values, context);
  const result = { document: stats, text: resultText(stats, values.cursorOut) };
  if (stopped === null) return result;
  const { what, mend } = stoppedText(start, stats.cursor, values.cursorOut, inHand);
  const error = new AbortedError(stopped, what, mend);
  return { ...result, stopped: { error, fields: { cursor: stats.cursor } } };
}
