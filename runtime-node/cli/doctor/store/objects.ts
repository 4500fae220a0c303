import { AnswerHeaders, CHECKSUM_ALGORITHMS } from '../../../engine/answer-headers.js';
import { checkAnswer, sameEtag } from '../../../engine/response-check.js';
import { Os2gError } from '../../../errors.js';
import type { ListedObject } from '../../../s3/listing.js';
import type { S3Store } from '../../../s3/store.js';
import { formatCount } from '../../output/numbers.js';
import { type Check, fail, info, ok, warn } from '../check.js';
import type { Answer, Asker } from './ask.js';

const RANGE_BYTES = 16;
/** Of no object: an MD5 that nobody has met. */
const WRONG_ETAG = '"0123456789abcdef0123456789abcdef"';
const shownKey = ({ key }: ListedObject): string => JSON.stringify(key);

/** HEAD of the object, and whether it is what the listing says. */
export async function headCheck(
  store: S3Store,
  bucket: string,
  object: ListedObject,
  signal: AbortSignal,
): Promise<Check> {
  const name = 'head';
  try {
    const head = await store.headObject(bucket, object.key, signal);
    if (head.sizeBytes !== object.sizeBytes) {
      return fail(
        name,
        `${shownKey(object)} has ${formatCount(head.sizeBytes)} bytes, the listing says ${formatCount(object.sizeBytes)}`,
        'try again; if it stays, something between here and the store changes the answers, or the store is damaged',
      );
    }
    if (object.etag === null || head.etag === null || !sameEtag(object.etag, head.etag)) {
      return warn(
        name,
        `the ETag of ${shownKey(object)} is ${head.etag ?? 'missing'}, the listing says ${object.etag ?? 'none'}`,
        'read with --verify size if it stays: ETags tell nothing in this store, and a replaced object of the same size is not noticed',
      );
    }
    return ok(name, `${shownKey(object)}, ${formatCount(head.sizeBytes)} bytes, ETag as listed`);
  } catch (error) {
    if (!(error instanceof Os2gError)) throw error;
    const { message, mend } = error.told('command');
    return fail(name, message, mend);
  }
}

/** A few bytes from the middle: as the engine asks, and with its judgement of the answer. */
export async function rangeCheck(asker: Asker, object: ListedObject): Promise<Check> {
  const name = 'range';
  const offset = Math.min(1, object.sizeBytes - 1);
  const length = Math.min(RANGE_BYTES, object.sizeBytes - offset);
  const { key, sizeBytes } = object;
  const answer = await asker.get({ key, offset, length, sizeBytes, etag: null, checksum: false });
  const asked = { offset, length, objectSize: sizeBytes, etag: null };
  const isWhole = offset === 0 && length === sizeBytes;
  if (answer.status !== 206 && !(isWhole && answer.status === 200)) {
    const what =
      answer.status === 200
        ? 'the store ignores ranges and sends the whole object'
        : `${shownKey(object)}: ${answer.said}`;
    return fail(
      name,
      what,
      answer.status === 403 ? 'allow s3:GetObject to these credentials' : RANGES_NEEDED,
    );
  }
  const verdict = checkAnswer(answer.status, engineHeaders(answer), asked);
  if (verdict !== null) return fail(name, `${shownKey(object)}: ${verdict.what}`, RANGES_NEEDED);
  return ok(
    name,
    `status ${answer.status}, ${String(answer.headers['content-range'] ?? 'the whole object')}`,
  );
}

const RANGES_NEEDED =
  'look at what stands between here and the store: samples inside of objects, and large objects in parts, need ranges';

/** A condition that cannot hold must give 412. A store that has none is read all the same, and that is said. */
export async function ifMatchCheck(asker: Asker, object: ListedObject): Promise<Check> {
  const name = 'if-match';
  const { key, sizeBytes } = object;
  const answer = await asker.get({ key, offset: 0, length: 1, sizeBytes, etag: WRONG_ETAG, checksum: false });
  if (answer.status === 412) return ok(name, 'a wrong ETag is refused with 412');
  const compares = 'os2g compares the ETag of each answer itself before it uses a byte';
  if (answer.status === 200 || answer.status === 206) {
    const mend = `nothing needs to be done: ${compares}; a replaced object is found as surely, by the answer`;
    return warn(name, `the store ignores If-Match (${answer.said} to a wrong ETag)`, mend);
  }
  const mend = `nothing needs to be done: after the first such answer os2g leaves If-Match out and says so; ${compares}`;
  return warn(name, `the store refuses If-Match (${answer.said})`, mend);
}

/** Whether the store has checksums of whole objects that a read can be held against. */
export async function checksumCheck(asker: Asker, object: ListedObject): Promise<Check> {
  const name = 'checksum';
  const { key, sizeBytes } = object;
  const answer = await asker.get({
    key,
    offset: 0,
    length: sizeBytes,
    sizeBytes,
    etag: null,
    checksum: true,
  });
  if (answer.status >= 300) {
    return warn(
      name,
      `the store refuses to be asked for one (${answer.said})`,
      'leave --verify checksum out: the default, etag, asks for none',
    );
  }
  const found = CHECKSUM_ALGORITHMS.find((algorithm) => `x-amz-checksum-${algorithm}` in answer.headers);
  const without = '--verify checksum would have nothing to compare, and counts such reads as unchecked';
  if (found === undefined) return info(name, `${shownKey(object)} has none: ${without}`);
  const value = String(answer.headers[`x-amz-checksum-${found}`]);
  if (answer.headers['x-amz-checksum-type'] === 'COMPOSITE' || value.includes('-')) {
    return info(name, `${shownKey(object)} has a composite one (${found}), of its parts: ${without}`);
  }
  return ok(name, `${found} of the whole object: --verify checksum compares it`);
}

function engineHeaders({ headers }: Answer): AnswerHeaders {
  const read = new AnswerHeaders();
  const raw = Object.entries(headers).flatMap(([name, value]) => [
    Buffer.from(name),
    Buffer.from(String(value)),
  ]);
  read.read(raw);
  return read;
}
