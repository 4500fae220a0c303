import type { S3Options } from '../../s3/location.js';
import type { CommandContext } from '../command.js';
import type { Check } from './check.js';
import { checkCores } from './core-check.js';
import { checkLimits, checkNode, checkReplayHosts } from './machine-check.js';
import { checkNative } from './native-check.js';
import { checkStore } from './store-check.js';

/** Everything that can be looked at: the machine, and the store where one is named. */
export async function examine(
  source: string | undefined,
  s3: S3Options,
  context: CommandContext,
): Promise<Check[]> {
  return [
    checkNode(),
    ...(await checkCores()),
    ...checkNative(),
    ...(await checkReplayHosts(context.env)),
    ...checkLimits(),
    ...(await checkStore(source, s3, context.signal)),
  ];
}
