import type { FeedOptions } from '../../feed/options.js';
import type { OptionValues } from '../options/spec.js';
import { DEFAULT_BATCH_SAMPLES, type FEED_OPTIONS, type S3_OPTIONS } from '../options/tables.js';

export type FeedValues = OptionValues<typeof FEED_OPTIONS & typeof S3_OPTIONS>;

/** How to reach the store, from the options of a command that reads one. */
export function s3Options(values: OptionValues<typeof S3_OPTIONS>): NonNullable<FeedOptions['s3']> {
  const { endpoint, region, profile, anonymous, requesterPays, pathStyle, caBundle, clientCert, clientKey } =
    values;
  // A switch that is not set says nothing: the addressing is then found out.
  return {
    endpoint,
    region,
    profile,
    ...{ caBundle, clientCert, clientKey },
    anonymous: anonymous || undefined,
    requesterPays: requesterPays || undefined,
    pathStyle: pathStyle || undefined,
  };
}

/**
 * The feed that a command line asks for. `openFeed` checks the rest, the data set among it.
 * @param isResumed whether there is a cursor that it goes on from
 */
export function feedOptions(source: string | undefined, values: FeedValues, isResumed: boolean): FeedOptions {
  const { batchSamples, resume, memory, helpSettings, stepTime, stopAfterBatches, ...rest } = values;
  const { manifest, format, bucket, epochs, seed, shuffle, tail, rank, worldSize, policy, set } = rest;
  const { landing, direct, onError, maxSkips, engine, verify, cursorOut, trace, audit } = rest;
  return {
    ...{ manifest, source, format, bucket, s3: s3Options(values) },
    // The cursor says what a resumed run was; only what is given must agree with it.
    batchSamples: batchSamples ?? (isResumed ? undefined : DEFAULT_BATCH_SAMPLES),
    ...{ epochs, seed, shuffle, tail, rank, worldSize, policy, set, memoryBytes: memory, landing, direct },
    ...{ onError, maxSkips, engine, verify, resume, cursorOut, trace, audit },
  };
}
