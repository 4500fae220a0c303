import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AbortedError, StoreError } from '../../runtime-node/errors.js';
import type { ListPage } from '../../runtime-node/s3/list-page.js';
import { listPages, type PageRequest } from '../../runtime-node/s3/listing.js';
import { withRetries } from '../../runtime-node/s3/retry.js';
import { type ListedObject, openStore } from '../../runtime-node/s3/store.js';
import {
  internalError,
  type ScriptedStore,
  type StoreOptions,
  slowDown,
  startStore,
} from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';

type Page = Partial<ListPage>;
const EMPTY: ListPage = {
  entries: [],
  commonPrefixes: 0,
  keyCount: null,
  isTruncated: false,
  nextToken: null,
  isUrlEncoded: false,
};

async function collect(pages: AsyncGenerator<ListedObject[]>): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of pages) keys.push(...page.map(({ key }) => key));
  return keys;
}

/** Pages as a script: the nth request gets the nth page, the last one for ever. */
function scripted(pages: Page[]): { request: PageRequest; sent: () => number } {
  let sent = 0;
  return {
    sent: () => sent,
    request: async () => ({ ...EMPTY, ...pages[Math.min(sent++, pages.length - 1)] }),
  };
}
const entry = (key: string) => ({ key, sizeBytes: 1, etag: '"e"', storageClass: null, isRestored: false });
const more = (token: string, ...keys: string[]): Page => ({
  entries: keys.map(entry),
  isTruncated: true,
  nextToken: token,
});
const last = (...keys: string[]): Page => ({ entries: keys.map(entry), isTruncated: false });

const rows: { name: string; pages: Page[]; keys?: string[]; fails?: RegExp }[] = [
  { name: 'one page', pages: [last('a', 'b')], keys: ['a', 'b'] },
  { name: 'nothing', pages: [{ isTruncated: false }], keys: [] },
  { name: 'three pages', pages: [more('1', 'a'), more('2', 'b'), last('c')], keys: ['a', 'b', 'c'] },
  {
    name: 'an empty page that is truncated goes on',
    pages: [more('1', 'a'), more('2'), last('c')],
    keys: ['a', 'c'],
  },
  { name: 'any order', pages: [last('b', 'a')], keys: ['b', 'a'] },
  {
    name: 'truncated without a token',
    pages: [{ ...more('1', 'a'), nextToken: null }],
    fails: /no token/,
  },
  { name: 'the same token for ever', pages: [more('1'), more('1')], fails: /same token/ },
  {
    name: 'tokens in a circle',
    pages: [
      more('x'),
      more('1'),
      more('2'),
      more('3'),
      more('1'),
      more('2'),
      more('3'),
      more('1'),
      more('2'),
      more('3'),
    ],
    fails: /same token/,
  },
  { name: 'the same page again', pages: [more('1', 'a'), more('2', 'a')], fails: /twice/ },
  { name: 'a key twice', pages: [last('a', 'a')], fails: /twice/ },
  {
    name: 'fewer keys than KeyCount',
    pages: [{ ...last('a'), keyCount: 2 }],
    fails: /has 2 keys, and has 1/,
  },
  { name: 'an entry without a key', pages: [{ entries: [entry('')] }], fails: /no key/ },
  {
    name: 'an entry without a size',
    pages: [{ entries: [{ ...entry('a'), sizeBytes: null }] }],
    fails: /no size/,
  },
  { name: 'not encoded: nothing is decoded', pages: [last('a%20b+c')], keys: ['a%20b+c'] },
  {
    name: 'encoded: decoded once',
    pages: [{ ...last('a%2520b%2Bc%20d'), isUrlEncoded: true }],
    keys: ['a%20b+c d'],
  },
  { name: 'badly encoded', pages: [{ ...last('100%'), isUrlEncoded: true }], fails: /not URL-encoded/ },
  {
    name: 'a plus: asked again without encoding, folder and name encoded in different ways',
    pages: [{ ...last('a+b/c+d%21', 'e'), isUrlEncoded: true }, last('a+b/c d!', 'e')],
    keys: ['a+b/c d!', 'e'],
  },
  {
    name: 'a plus, and another key without encoding',
    pages: [{ ...last('a+b'), isUrlEncoded: true }, last('a-b')],
    fails: /without encoding/,
  },
];
for (const { name, pages, keys, fails } of rows) {
  test(`listing: ${name}`, async () => {
    const { request } = scripted(pages);
    try {
      assert.equal(await collect(listPages(request, 'b', false)), keys);
    } catch (cause) {
      if (fails === undefined || !(cause instanceof StoreError)) throw cause;
      assert.is(cause.code, 'listing_broken');
      assert.match(cause.message, fails);
    }
  });
}

test('AWS writes a space as a plus: no second request', async () => {
  const { request, sent } = scripted([{ ...last('a+b'), isUrlEncoded: true }]);
  assert.equal(await collect(listPages(request, 'b', true)), ['a b']);
  assert.is(sent(), 1);
});

async function withStore(
  options: StoreOptions,
  run: (
    store: ScriptedStore,
    list: (prefix: string, signal?: AbortSignal) => Promise<string[]>,
  ) => Promise<void>,
): Promise<void> {
  const store = await startStore(options);
  store.createBucket('data');
  await withAwsEnv(keysOf(store.credentials), async () => {
    const s3 = await openStore({ endpoint: store.endpoint });
    await run(store, (prefix, signal) => collect(s3.listObjects('data', prefix, signal)));
    assert.is(s3.listRequests, store.counters.lists);
    await s3.close();
  });
  await store.close();
}

test('case 3: a page of 1,000 keys full of entities is complete', async () => {
  await withStore({}, async (store, list) => {
    const keys = Array.from({ length: 1000 }, (_, n) => `${n}&<>"'&amp;&lt;#`);
    for (const key of keys) store.put('data', key, Buffer.from(key));
    assert.equal((await list('')).sort(), keys.sort());
  });
});

test('case 4: 2,501 keys over three pages', async () => {
  await withStore({}, async (store, list) => {
    for (let n = 0; n < 2501; n++) store.put('data', `k${n}`, { sizeBytes: 1, seed: n });
    assert.is(new Set(await list('')).size, 2501);
    assert.is(store.counters.lists, 3);
  });
});

test('empty pages that never end are an error, not an endless listing', async () => {
  let asked = 0;
  const request = async (): Promise<ListPage> => ({
    ...EMPTY,
    isTruncated: true,
    nextToken: `t${asked++}`,
    keyCount: 0,
  });
  let error: unknown;
  try {
    for await (const _ of listPages(request, 'data', true));
  } catch (thrown) {
    error = thrown;
  }
  assert.is((error as { code?: string }).code, 'listing_broken');
  assert.ok(asked <= 1000, `${asked} pages`);
});

test('case 4: broken pages of a real listing', async () => {
  for (const [how, outcome] of [
    ['no-token', /no token/],
    ['same-token', /same token|twice/],
    ['missing-entries', /keys, and has/],
    ['empty-page', null],
    ['unordered', null],
  ] as const) {
    await withStore({ pageSize: 10 }, async (store, list) => {
      for (let n = 0; n < 25; n++) store.put('data', `k${n}`, { sizeBytes: 1, seed: n });
      store.faults.add({
        match: { operation: 'list', nth: 2 },
        times: how === 'same-token' ? undefined : 1,
        fault: { kind: 'listing', how },
      });
      if (how === 'same-token')
        store.faults.add({ match: { operation: 'list', afterRequests: 1 }, fault: { kind: 'listing', how } });
      try {
        assert.is((await list('')).length, 25);
        assert.is(outcome, null, how);
      } catch (cause) {
        if (!(cause instanceof StoreError) || outcome === null) throw cause;
        assert.match(cause.message, outcome);
      }
    });
  }
});

test('case 5: the prefix is a plain string match', async () => {
  await withStore({}, async (store, list) => {
    for (const key of ['train', 'train/1', 'train2/1', 'trai']) store.put('data', key, Buffer.from('1'));
    assert.equal((await list('train')).sort(), ['train', 'train/1', 'train2/1']);
    assert.equal(await list('train/'), ['train/1']);
  });
});

test('passing failures are tried again, in one place', async () => {
  await withStore({}, async (store, list) => {
    store.put('data', 'a', Buffer.from('1'));
    store.faults.add({ match: { operation: 'list' }, times: 1, fault: slowDown() });
    store.faults.add({ match: { operation: 'list' }, times: 1, fault: internalError() });
    store.faults.add({ match: { operation: 'list' }, times: 1, fault: { kind: 'close', how: 'rst' } });
    assert.equal(await list(''), ['a']);
    assert.is(store.counters.lists, 4);
  });
});

test('a silent store is asked three times, another five times; each retry is told', async () => {
  const cases: [silent: boolean, attempts: number][] = [
    [true, 3],
    [false, 5],
  ];
  for (const [silent, attempts] of cases) {
    let calls = 0;
    const told: number[] = [];
    const call = async (): Promise<never> => {
      calls++;
      throw new Error('no answer');
    };
    const judge = () => ({ passing: true, silent });
    const failed = await withRetries(call, judge, (_cause, attempt) => told.push(attempt)).catch((e) => e);
    assert.is(failed.message, 'no answer');
    assert.is(calls, attempts);
    assert.equal(
      told,
      Array.from({ length: attempts - 1 }, (_, i) => i + 1),
    );
  }
});

test('lasting ones end after five attempts; an abort ends at once', async () => {
  await withStore({}, async (store, list) => {
    store.faults.add({ match: { operation: 'list' }, fault: slowDown() });
    const failed = await list('').catch((cause: unknown) => cause);
    assert.instance(failed, StoreError);
    assert.equal(failed instanceof StoreError && [failed.code, failed.context.attempts], ['throttled', 5]);
    const aborted = await list('', AbortSignal.abort()).catch((cause: unknown) => cause);
    assert.instance(aborted, AbortedError);
  });
});

test('case 19: archived objects are known from the listing, restored ones too', async () => {
  const store = await startStore({});
  store.createBucket('data');
  store.put('data', 'cold', Buffer.from('1'), { storageClass: 'GLACIER' });
  store.put('data', 'thawing', Buffer.from('1'), { storageClass: 'GLACIER', restore: { ongoing: true } });
  store.put('data', 'thawed', Buffer.from('1'), {
    storageClass: 'DEEP_ARCHIVE',
    restore: { ongoing: false, expiry: new Date(Date.now() + 864e5) },
  });
  store.put('data', 'warm', Buffer.from('1'), { storageClass: 'STANDARD_IA' });
  await withAwsEnv(keysOf(store.credentials), async () => {
    const s3 = await openStore({ endpoint: store.endpoint });
    const archived: string[] = [];
    for await (const page of s3.listObjects('data', '')) {
      for (const object of page) {
        if (object.archived) archived.push(object.key);
        assert.is((await s3.headObject('data', object.key)).archived, object.archived, object.key);
      }
    }
    assert.equal(archived.sort(), ['cold', 'thawing']);
    await s3.close();
  });
  await store.close();
});

test.run();
