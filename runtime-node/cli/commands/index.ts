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
  ],
  run: ([source = ''], values, context) => index(source, values, context),
});

async function index(source: string, values: IndexValues, context: CommandContext): Promise<CommandResult> {
  if (!['auto', 'objects'].includes(values.format)) {
    throw new ConfigError(
      'not_in_this_version',
      `--format ${values.format}: this version of os2g indexes plain objects only`,
      'use --format objects (one object, one sample), or write the manifest yourself: docs/manifest.md',
      { option: 'format' },
    );
  }
  if (values.output === undefined) {
    throw new ConfigError('bad_call', 'no file to write was named', 'add -o train.arrow', {
      option: 'output',
    });
  }
  const { indexObjects } = await import('../index/index-objects.js');
  return indexObjects(source, values.output, s3Options(values), context);
}
