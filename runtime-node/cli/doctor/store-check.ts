import { Os2gError } from '../../errors.js';
import type { BucketAccess } from '../../s3/access.js';
import { RefreshedCredentials } from '../../s3/credentials.js';
import { parseS3Url, type S3Options } from '../../s3/location.js';
import { openStore, type S3Store } from '../../s3/store.js';
import { formatCount } from '../output/numbers.js';
import { type Check, fail, ok, warn } from './check.js';
import { readDate, skewCheck } from './clock-skew.js';

/** No request is sent for it: the SDK's rules give an endpoint, and its providers credentials, for any bucket's name. */
const ANY_BUCKET = 'os2g-doctor';

/**
 * Credentials and endpoint; and, where a source or an endpoint is named, whether it answers, its clock, and the first page
 * of the listing.
 */
export async function checkStore(
  source: string | undefined,
  s3: S3Options,
  signal: AbortSignal,
): Promise<Check[]> {
  const location = source === undefined ? null : parseS3Url(source);
  let store: S3Store | null = null;
  try {
    store = await openStore(s3);
    const access = await store.bucketAccess(location?.bucket ?? ANY_BUCKET);
    const checks = [credentialsCheck(access), endpointCheck(access)];
    if (location === null && s3.endpoint === undefined) return checks;
    checks.push(await answerCheck(access, signal));
    if (location !== null) checks.push(await listingCheck(store, location, signal));
    return checks;
  } catch (error) {
    return [failure(error, location !== null)];
  } finally {
    await store?.close();
  }
}

/** Without a store that is to be read, lacking credentials or a region is no failure yet. */
function failure(error: unknown, isNeeded: boolean): Check {
  if (!(error instanceof Os2gError)) throw error;
  const name = error.code === 'no_credentials' ? 'credentials' : 'endpoint';
  return isNeeded
    ? fail(name, error.message, error.mend)
    : warn(name, error.message, `to read a store: ${error.mend}`);
}

function credentialsCheck({ credentials }: BucketAccess): Check {
  if (credentials === null) return ok('credentials', 'anonymous: none are sent');
  const provider =
    credentials instanceof RefreshedCredentials ? credentials.providerName : 'given by the program';
  const { expiresAtMs } = credentials.current();
  const until = expiresAtMs === null ? '' : `, valid until ${new Date(expiresAtMs).toISOString()}`;
  return ok('credentials', `found by ${provider}${until}`);
}

function endpointCheck({
  protocol,
  host,
  pathPrefix,
  addressing,
  signingRegion,
  caPem,
}: BucketAccess): Check {
  const where = addressing === 'path' ? 'bucket in the path' : 'bucket in the host name';
  const base = pathPrefix.replace(`/${ANY_BUCKET}`, '');
  const name = host.replace(`${ANY_BUCKET}.`, '');
  const trust = caPem === null ? '' : ', a CA bundle of its own';
  return ok('endpoint', `${protocol}//${name}${base}, region ${signingRegion}, ${where}${trust}`);
}

async function answerCheck(access: BucketAccess, signal: AbortSignal): Promise<Check> {
  try {
    return skewCheck(await readDate(access, signal), Date.now());
  } catch (error) {
    return fail(
      'endpoint answers',
      `${access.protocol}//${access.host}: ${(error as Error).message}`,
      'check host, port and protocol of --endpoint, and that nothing between blocks it',
    );
  }
}

async function listingCheck(
  store: S3Store,
  { bucket, prefix }: { bucket: string; prefix: string },
  signal: AbortSignal,
): Promise<Check> {
  try {
    for await (const page of store.listObjects(bucket, prefix, signal)) {
      if (page.length > 0) return ok('listing', `${formatCount(page.length)} objects on the first page`);
    }
    return warn(
      'listing',
      `nothing begins with ${JSON.stringify(prefix)}`,
      'check bucket and prefix; case counts',
    );
  } catch (error) {
    if (!(error instanceof Os2gError)) throw error;
    return fail('listing', error.message, error.mend);
  }
}
