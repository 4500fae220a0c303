// Listings as damaged as can be, through the SDK's client and our reading: a typed error, or exactly the objects that expat finds.
import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { ListPage } from '../../runtime-node/s3/list-page.js';
import { requestPage } from '../../runtime-node/s3/list-request.js';
import { isArchive, type ListedObject, listPages } from '../../runtime-node/s3/listing.js';
import { storeError } from '../../runtime-node/s3/sdk-error.js';
import { type Draw, seededDraws } from '../kit/index.js';
import { FuzzTally, fuzzBytes, mutated } from './mutations.js';
import { OtherReader, otherReaderMissing } from './other-reader.js';

const SEED = Number(process.env.OS2G_FUZZ_SEED ?? 424_242);
const FUZZ_BYTES = fuzzBytes(3e6);

interface Answer {
  status: number;
  body: Uint8Array;
}

/** A client whose nth call is answered by the nth answer, and what comes after by an error. */
function clientOf(answers: readonly Answer[]): S3Client {
  let sent = 0;
  return new S3Client({
    region: 'us-east-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'A', secretAccessKey: 'S' },
    requestHandler: {
      handle: async () => {
        const { status, body } = answers[sent++] ?? BEHIND_THE_END;
        return { response: { statusCode: status, headers: {}, body: Readable.from([Buffer.from(body)]) } };
      },
      destroy: () => {},
    } as never,
  });
}
const BEHIND_THE_END: Answer = {
  status: 400,
  body: Buffer.from('<Error><Code>InvalidArgument</Code><Message>no such token</Message></Error>'),
};

const CALL = {
  action: 'list',
  bucket: 'data',
  region: 'us-east-1',
  endpoint: 'http://store',
  anonymous: false,
  requesterPays: false,
};

async function listed(answers: readonly Answer[]): Promise<ListedObject[]> {
  const client = clientOf(answers);
  const objects: ListedObject[] = [];
  const request = (token: string | null) =>
    requestPage(client, { Bucket: 'data', ContinuationToken: token ?? undefined }, undefined).catch(
      (cause) => {
        throw storeError(cause, CALL, 1, (text) => text);
      },
    );
  for await (const page of listPages(request, 'data', true)) objects.push(...page);
  return objects;
}

/** Pages of stores: with and without encoding, a count, a restore status, pretty printing, entities. */
function pagesOf(draw: Draw): Uint8Array[] {
  const below = (n: number): number => Math.floor(draw() * n);
  const one = <T>(...of: T[]): T => of[below(of.length)] as T;
  const [isEncoded, hasCount, gap] = [draw() < 0.5, draw() < 0.7, one('', '', '\n', '\r\n  ')];
  const names = isEncoded
    ? ['a%20b', 'x+y', 'train%2Fcat%26dog', '%F0%9F%98%80', 'plain']
    : [
        'a b',
        'x&amp;y',
        '&quot;q&quot;',
        '\u00e9\u{1f600}',
        '&#xe9;&#x1F600;',
        'plain',
        '<![CDATA[<b>]]>',
        'c&#x1;d',
      ];
  const pages = 1 + below(3);
  return Array.from({ length: pages }, (_, page) => {
    const entries = Array.from({ length: below(6) }, (_, n) => {
      const restore =
        draw() < 0.2
          ? `<RestoreStatus><IsRestoreInProgress>${one('true', 'false')}</IsRestoreInProgress><RestoreExpiryDate>2030-01-01T00:00:00Z</RestoreExpiryDate></RestoreStatus>`
          : '';
      const etag = one('"9e107d9d372bb6826bd81d3542a419d6"', '&quot;9e10-2&quot;', '');
      const checksums = '<ChecksumAlgorithm>CRC32</ChecksumAlgorithm>'.repeat(below(3));
      return [
        `<Contents>${gap}<Key>${one(...names)}${page}${n}</Key>`,
        `<LastModified>2026-01-01T00:00:00.000Z</LastModified>${checksums}`,
        etag === '' ? '' : `<ETag>${etag}</ETag>`,
        `<Size>${below(1e6)}</Size><StorageClass>${one('STANDARD', 'GLACIER')}</StorageClass>${restore}${gap}</Contents>`,
      ].join(gap);
    });
    const isLast = page === pages - 1;
    const parts = [
      `<?xml version="1.0" encoding="UTF-8"?>`,
      `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>data</Name><Prefix/>`,
      hasCount ? `<KeyCount>${entries.length}</KeyCount>` : '',
      `<MaxKeys>1000</MaxKeys>${isEncoded ? '<EncodingType>url</EncodingType>' : ''}<IsTruncated>${!isLast}</IsTruncated>`,
      isLast ? '' : `<NextContinuationToken>t/${page}==</NextContinuationToken>`,
      ...entries,
      '</ListBucketResult>',
    ];
    return Buffer.from(parts.join(gap));
  });
}

const SNIPPETS = [
  '<IsTruncated>false</IsTruncated>',
  '<Contents><Key>k</Key><Size>1</Size></Contents>',
  '</Contents>',
  '<Contents>',
  '<!-- -->',
  '&amp;',
  '&nbsp;',
  '&#0;',
  '&#xD800;',
  '&#x10FFFF;',
  '<KeyCount>0</KeyCount>',
  '<Size>-1</Size>',
  '<Size>1e3</Size>',
  '<Size>9007199254740993</Size>',
  '<Key></Key>',
  '<Key/>',
  '</ListBucketResult>',
  '<Error><Code>SlowDown</Code></Error>',
  '<EncodingType>url</EncodingType>',
  '%',
  '\0',
  '\u2028',
  '<?pi ?>',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
];

/** Bytes changed, or an element or a part of one put in, left out or doubled, as XML. */
function damaged(page: Uint8Array, draw: Draw): Uint8Array {
  if (draw() < 0.4) return mutated(page, draw);
  const text = Buffer.from(page).toString();
  const at = (places: readonly number[]): number => places[Math.floor(draw() * places.length)] ?? 0;
  const tags = [...text.matchAll(/</g)].map(({ index }) => index);
  const [from, to] = [at(tags), at(tags)].sort((a, b) => a - b) as [number, number];
  const snippet = SNIPPETS[Math.floor(draw() * SNIPPETS.length)] as string;
  const anywhere = Math.floor(draw() * text.length);
  const ways = [
    () => text.slice(0, from) + text.slice(to),
    () => text.slice(0, to) + text.slice(from),
    () => text.slice(0, from) + snippet + text.slice(from),
    () => text.slice(0, anywhere) + snippet + text.slice(anywhere),
    () => text.replace(/<Contents>.*?<\/Contents>/s, draw() < 0.5 ? '' : '$&$&'),
    () => text.replace('UTF-8', draw() < 0.5 ? 'ISO-8859-1' : 'utf-16'),
  ];
  return Buffer.from((ways[Math.floor(draw() * ways.length)] as () => string)());
}

interface OtherPage extends Omit<ListPage, 'entries'> {
  entries: [
    key: string,
    size: number | null,
    etag: string | null,
    storageClass: string | null,
    restored: boolean,
  ][];
}

/** What the pages hold by the other reader, or null where they must not be taken. */
async function expected(
  pages: readonly Uint8Array[],
  reader: OtherReader<OtherPage>,
): Promise<ListedObject[] | null> {
  const objects: ListedObject[] = [];
  for (const page of pages) {
    const read = await reader.read(page);
    if (read === null) return null;
    if (read.keyCount !== null && read.keyCount !== read.entries.length + read.commonPrefixes) return null;
    for (const [key, sizeBytes, etag, storageClass, restored] of read.entries) {
      if (key === '' || sizeBytes === null) return null;
      const decoded = read.isUrlEncoded ? unquoted(key) : key;
      if (decoded === null) return null;
      objects.push({
        key: decoded,
        sizeBytes,
        etag,
        storageClass,
        archived: isArchive(storageClass) && !restored,
      });
    }
    if (!read.isTruncated) return objects;
    if (read.nextToken === null) return null;
  }
  return null;
}

function unquoted(key: string): string | null {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

test(`damaged listings (seed ${SEED}): an error, or the objects that another reader finds`, async () => {
  if (otherReaderMissing !== null) return console.log(`skipped: ${otherReaderMissing}`);
  const reader = new OtherReader<OtherPage>('listing');
  try {
    await againstAnother(reader);
  } finally {
    reader.close();
  }
});

async function againstAnother(reader: OtherReader<OtherPage>): Promise<void> {
  const tally = new FuzzTally('listings', SEED);
  const draw = seededDraws(SEED);
  while (tally.outcome.bytes < FUZZ_BYTES) {
    const pages = pagesOf(draw);
    // Some as they are, or the test could not tell a reader that refuses all.
    if (draw() < 0.9) {
      const n = Math.floor(draw() * pages.length);
      pages[n] = damaged(pages[n] as Uint8Array, draw);
    }
    const bytes = pages.reduce((sum, { length }) => sum + length, 0);
    const objects = await listed(pages.map((body) => ({ status: 200, body }))).catch((error: unknown) => {
      tally.refused(bytes, error);
      return null;
    });
    if (objects === null) continue;
    const where = `input ${tally.outcome.inputs}: ${pages.map((page) => JSON.stringify(Buffer.from(page).toString())).join('\n')}`;
    assert.equal(objects, await expected(pages, reader), where);
    tally.taken(bytes);
  }
  const { taken, inputs } = tally.finish();
  assert.ok(taken > inputs / 10 && taken < inputs / 2, `${taken} of ${inputs} taken`);
}

const ERROR_DOCUMENT = Buffer.from(
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message><Key>k&amp;</Key><RequestId>4442587FB7D0A2F9</RequestId><HostId>h</HostId></Error>',
);

test(`damaged error documents (seed ${SEED}): a typed error, never objects`, async () => {
  const tally = new FuzzTally('listings', SEED);
  const draw = seededDraws(SEED + 1);
  while (tally.outcome.bytes < FUZZ_BYTES / 10) {
    const status = [200, 301, 400, 403, 404, 500, 503][Math.floor(draw() * 7)] as number;
    const body = damaged(ERROR_DOCUMENT, draw);
    const error = await listed([{ status, body }]).then(
      (objects) => new TypeError(`${objects.length} objects out of ${Buffer.from(body)}`),
      (thrown: unknown) => thrown,
    );
    tally.refused(body.length, error);
  }
  tally.finish();
});

test.run();
