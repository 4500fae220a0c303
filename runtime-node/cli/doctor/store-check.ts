import { Os2gError } from '../../errors.js';
import { isFolderMarker } from '../../manifest/index-objects.js';
import type { BucketAccess } from '../../s3/access.js';
import { isAwsHost } from '../../s3/endpoint.js';
import { parseS3Url, type S3Location, type S3Options } from '../../s3/location.js';
import { openStore, type S3Store } from '../../s3/store.js';
import { counted } from '../output/numbers.js';
import { type Check, fail, ok, warn } from './check.js';
import { skewCheck } from './clock-skew.js';
import { askEndpoint, type EndpointAnswer, noAnswerCheck, notS3Check } from './endpoint-answer.js';

/** No request is sent for it: the SDK's rules give an endpoint, and its providers credentials, for any bucket's name. */
const ANY_BUCKET = 'os2g-doctor';

/**
 * Credentials and endpoint; and, where a source or a store of one's own is named, whether it answers, its clock, and the first
 * page of the listing.
 */
export async function checkStore(
  source: string | undefined,
  s3: S3Options,
  signal: AbortSignal,
): Promise<Check[]> {
  const location = source === undefined ? null : parseS3Url(source);
  const checks: Check[] = [];
  let store: S3Store | null = null;
  try {
    store = await openStore(s3).catch((error: unknown) => {
      if (!(error instanceof Os2gError) || error.code !== 'no_credentials') throw error;
      checks.push(failure(error, location !== null));
      // Where the store is, and whether it answers, can be told without them.
      return openStore({ ...s3, anonymous: true });
    });
    const isSigned = checks.length === 0;
    if (isSigned) checks.push(credentialsCheck(store));
    const access = await store.bucketAccess(location?.bucket ?? ANY_BUCKET);
    checks.push(endpointCheck(access));
    if (location === null && isAwsHost(access.hostname)) return checks;
    checks.push(...(await answerChecks(store, access, isSigned ? location : null, signal)));
  } catch (error) {
    checks.push(failure(error, location !== null));
  } finally {
    await store?.close();
  }
  return checks;
}

const NAMES: Readonly<Record<string, string>> = { no_credentials: 'credentials', no_profile: 'profile' };
/** Lacking these is no failure before a store is to be read. */
const LACKING = new Set(['no_credentials', 'no_region']);

function failure(error: unknown, isNeeded: boolean): Check {
  if (!(error instanceof Os2gError)) throw error;
  const name = NAMES[error.code] ?? 'endpoint';
  const { message, mend } = error.told('command');
  return isNeeded || !LACKING.has(error.code)
    ? fail(name, message, mend)
    : warn(name, message, `to read a store: ${mend}`);
}

function credentialsCheck({ credentialsFrom, credentialsExpireMs }: S3Store): Check {
  if (credentialsFrom === null) return ok('credentials', 'anonymous: none are sent');
  const until =
    credentialsExpireMs === null ? '' : `, valid until ${new Date(credentialsExpireMs).toISOString()}`;
  return ok('credentials', `found by ${credentialsFrom}${until}`);
}

function endpointCheck(access: BucketAccess): Check {
  const { protocol, host, pathPrefix, addressing, signingRegion, caPem } = access;
  const where = addressing === 'path' ? 'bucket in the path' : 'bucket in the host name';
  const base = pathPrefix.replace(`/${ANY_BUCKET}`, '');
  const name = host.replace(`${ANY_BUCKET}.`, '');
  const trust = caPem === null || protocol === 'http:' ? '' : ', a CA bundle of its own';
  return ok('endpoint', `${protocol}//${name}${base}, region ${signingRegion}, ${where}${trust}`);
}

/** Whether it answers, as an S3 does; its clock; and its listing. */
async function answerChecks(
  store: S3Store,
  access: BucketAccess,
  location: S3Location | null,
  signal: AbortSignal,
): Promise<Check[]> {
  let answer: EndpointAnswer;
  try {
    answer = await askEndpoint(access, signal);
  } catch (error) {
    return [noAnswerCheck(access, error)];
  }
  const listing = location === null ? [] : [await listingCheck(store, location, signal)];
  // A proxy may well answer an unsigned request by itself; who lists is an S3.
  const isS3 = answer.isS3 || listing.some(({ status }) => status === 'ok');
  return [isS3 ? skewCheck(answer.dateMs, Date.now()) : notS3Check(access, answer), ...listing];
}

async function listingCheck(
  store: S3Store,
  { bucket, prefix }: S3Location,
  signal: AbortSignal,
): Promise<Check> {
  const name = 'listing';
  let markers = 0;
  try {
    for await (const page of store.listObjects(bucket, prefix, signal)) {
      const found = page.filter(isFolderMarker).length;
      markers += found;
      if (found === page.length) continue;
      const beside = markers === 0 ? '' : ` (and ${counted(markers, 'folder marker')}, no samples)`;
      return ok(name, `${counted(page.length - found, 'object')} on the first page${beside}`);
    }
    const only = markers === 0 ? 'nothing' : `nothing but ${counted(markers, 'folder marker')}`;
    return fail(
      name,
      prefix === '' ? `bucket ${bucket} holds ${only}` : `${only} begins with ${JSON.stringify(prefix)}`,
      'check bucket and prefix; case counts',
    );
  } catch (error) {
    if (!(error instanceof Os2gError)) throw error;
    const { message, mend } = error.told('command');
    return fail(name, message, mend);
  }
}
