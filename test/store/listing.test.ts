import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fault } from './faults.js';
import { type ScriptedStore, startStore } from './index.js';

let store: ScriptedStore;
test.before(async () => {
  store = await startStore({ anonymous: true });
});
test.before.each(() => store.faults.clear());
test.after(() => store.close());

interface Page {
  keys: string[];
  prefixes: string[];
  keyCount: number;
  truncated: boolean;
  token: string | null;
  xml: string;
}

function unescapeXml(text: string): string {
  const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replace(/&(?:#x([0-9a-f]+)|(\w+));/g, (_, hex: string, name: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (named[name] ?? '?'),
  );
}

function all(xml: string, pattern: RegExp): string[] {
  return [...xml.matchAll(pattern)].map((match) => unescapeXml(match[1] ?? ''));
}

async function list(bucket: string, query: Record<string, string> = {}): Promise<Page> {
  const parameters = Object.entries({ 'list-type': '2', ...query })
    .map(
      ([name, value]) =>
        `${name}=${encodeURIComponent(value).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`,
    )
    .join('&');
  const response = await fetch(`${store.endpoint}/${bucket}?${parameters}`);
  const xml = await response.text();
  assert.is(response.status, 200, xml);
  return {
    keys: all(xml, /<Contents><Key>([^<]*)<\/Key>/g),
    prefixes: all(xml, /<CommonPrefixes><Prefix>([^<]*)<\/Prefix>/g),
    keyCount: Number(/<KeyCount>(\d+)/.exec(xml)?.[1]),
    truncated: /<IsTruncated>true/.test(xml),
    token: all(xml, /<NextContinuationToken>([^<]*)</g)[0] ?? null,
    xml,
  };
}

async function walk(
  bucket: string,
  query: Record<string, string> = {},
): Promise<{ items: string[]; sizes: number[] }> {
  const items: string[] = [];
  const sizes: number[] = [];
  let token: string | null = null;
  do {
    const page: Page = await list(bucket, token === null ? query : { ...query, 'continuation-token': token });
    items.push(...page.keys, ...page.prefixes);
    sizes.push(page.keyCount);
    assert.is(page.truncated, page.token !== null);
    token = page.token;
  } while (token !== null);
  return { items, sizes };
}

let buckets = 0;
function bucketOf(keys: Iterable<string>): string {
  const name = `bucket-${++buckets}`;
  store.createBucket(name);
  for (const key of keys) store.put(name, key, Buffer.alloc(0));
  return name;
}

const bytewise = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

test('2,501 keys come in three pages', async () => {
  const keys = Array.from({ length: 2501 }, (_, i) => `k&"${String(i).padStart(4, '0')}`);
  const { items, sizes } = await walk(bucketOf(keys));
  assert.equal(sizes, [1000, 1000, 501]);
  assert.equal(items, keys);
});

const TREE = ['out', 'out/', 'out/x', 'out/y/z', 'outer', 'train', 'train/1', 'train2/1'];
const QUERIES: { query: Record<string, string>; items: string[] }[] = [
  { query: {}, items: TREE },
  { query: { prefix: 'train' }, items: ['train', 'train/1', 'train2/1'] },
  { query: { prefix: 'train/' }, items: ['train/1'] },
  { query: { delimiter: '/' }, items: ['out', 'outer', 'train', 'out/', 'train/', 'train2/'] },
  { query: { delimiter: '/', prefix: 'out/' }, items: ['out/', 'out/x', 'out/y/'] },
  { query: { 'start-after': 'out/x' }, items: ['out/y/z', 'outer', 'train', 'train/1', 'train2/1'] },
  { query: { 'start-after': 'zzz' }, items: [] },
  { query: { 'max-keys': '0' }, items: [] },
  { query: { prefix: 'none' }, items: [] },
];
for (const { query, items } of QUERIES) {
  test(`listed with ${JSON.stringify(query)}`, async () => {
    const bucket = bucketOf(TREE);
    assert.equal((await list(bucket, query)).keys.concat((await list(bucket, query)).prefixes), items);
    if (query['max-keys'] === undefined) {
      const { items: paged } = await walk(bucket, { ...query, 'max-keys': '1' });
      assert.equal(paged.sort(bytewise), [...items].sort(bytewise));
    }
  });
}

test('any keys, any page size: complete, in bytewise order', async () => {
  const seed = 4711;
  console.log(`seed ${seed}`);
  const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 12 }),
      fc.integer({ min: 1, max: 5 }),
      async (keys, size) => {
        const { items } = await walk(bucketOf(keys), { 'max-keys': String(size) });
        assert.equal(items, [...keys].sort(bytewise));
      },
    ),
    { seed, numRuns: 60 },
  );
});

test('encoding-type=url, ETags as entities, bad arguments', async () => {
  const page = await list(bucketOf(['a b+c/é', '100%']), { 'encoding-type': 'url' });
  assert.equal(page.keys, ['100%25', 'a+b%2Bc/%C3%A9']);
  assert.match(page.xml, /<ETag>&quot;[0-9a-f]{32}&quot;<\/ETag>/);
  for (const bad of ['max-keys=x', 'continuation-token=x', 'encoding-type=x']) {
    const response = await fetch(`${store.endpoint}/bucket-1?list-type=2&${bad}`);
    assert.is(response.status, 400);
    assert.match(await response.text(), /InvalidArgument/);
  }
});

const FIVE = ['1', '2', '3', '4', '5'];
const FAULTS: { how: (Fault & { kind: 'listing' })['how']; pages: string[]; end: string }[] = [
  { how: 'no-token', pages: ['12'], end: 'truncated' },
  { how: 'same-token', pages: ['12', '34', '34', '34', '34', '34'], end: 'truncated, same token' },
  { how: 'empty-page', pages: ['', '', '', '', '', ''], end: 'truncated, new token' },
  { how: 'unordered', pages: ['21', '43', '5'], end: 'complete' },
  { how: 'missing-entries', pages: ['1', '3', ''], end: 'complete' },
];
for (const { how, pages, end } of FAULTS) {
  test(`listing fault: ${how}`, async () => {
    store.faults.add({ match: { operation: 'list' }, fault: { kind: 'listing', how } });
    const bucket = bucketOf(FIVE);
    const seen: string[] = [];
    let page = await list(bucket, { 'max-keys': '2' });
    let last: string | null = null;
    seen.push(page.keys.join(''));
    while (page.token !== null && seen.length < 6) {
      last = page.token;
      page = await list(bucket, { 'max-keys': '2', 'continuation-token': last });
      seen.push(page.keys.join(''));
    }
    assert.equal(seen, pages);
    const token = page.token === null ? '' : page.token === last ? ', same token' : ', new token';
    assert.is(page.truncated ? `truncated${token}` : 'complete', end);
  });
}

test('one empty page is passed by going on', async () => {
  store.faults.add({
    times: 1,
    match: { operation: 'list', nth: 2 },
    fault: { kind: 'listing', how: 'empty-page' },
  });
  const { items, sizes } = await walk(bucketOf(FIVE), { 'max-keys': '2' });
  assert.equal([items, sizes], [FIVE, [2, 0, 2, 1]]);
});

test.run();
