import { ConfigError } from '../../errors.js';
import { type CommandContext, type CommandResult, command } from '../command.js';
import { s3Options } from '../feed/feed-options.js';
import type { OptionValues } from '../options/spec.js';
import { INDEX_OPTIONS, S3_OPTIONS } from '../options/tables.js';

type IndexValues = OptionValues<typeof INDEX_OPTIONS & typeof S3_OPTIONS>;

export const indexCommand = command({
  name: 'index',
  summary: 'list a prefix and write its manifest, one row a sample',
  args: [
    { form: '<source>', meaning: 's3://bucket/prefix; a prefix is a plain beginning of keys, as in S3' },
  ],
  options: { ...INDEX_OPTIONS, ...S3_OPTIONS },
  examples: [
    'os2g index s3://bucket/train/ -o train.arrow',
    'os2g index s3://public/set/ -o set.arrow --anonymous',
    'os2g index s3://bucket/shards/ -o train.arrow --update',
    'os2g index s3://bucket/photos/ -o photos.arrow --image-size',
  ],
  run: ([source = ''], values, context) => index(source, values, context),
});

async function index(source: string, values: IndexValues, context: CommandContext): Promise<CommandResult> {
  const { output, format, concurrency, imageSize, update } = values;
  if (output === undefined) {
    throw new ConfigError('bad_call', 'no file to write was named', 'add -o train.arrow', {
      option: 'output',
    });
  }
  const { runIndex } = await import('../index/run-index.js');
  return runIndex({ source, output, format, concurrency, imageSize, update, s3: s3Options(values) }, context);
}
