import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AbortedError, type Os2gError } from '../../runtime-node/errors.js';
import type { IndexUnit, SampleFormat, SampleRow } from '../../runtime-node/formats/format.js';
import { type IndexJob, indexRows, workFileOf } from '../../runtime-node/formats/pipeline/index-run.js';
import { OldManifest } from '../../runtime-node/formats/pipeline/old-manifest.js';
import { tarFormat } from '../../runtime-node/formats/tar/tar.js';
import { readManifest } from '../../runtime-node/manifest/arrow-file.js';
import { objectRow } from '../../runtime-node/manifest/object-rows.js';
import { writeRows } from '../../runtime-node/manifest/write-rows.js';
import type { ListedObject } from '../../runtime-node/s3/listing.js';
import { inFolder, thrown } from '../manifest/fixtures.js';
import { listedObject, MemoryStore } from './memory-store.js';
import { tar } from './tar-writer.js';

const BUCKET = 'bucket';

/** Shards of three samples each; `version` goes into their bytes' number. */
function shards(count: number, version = 1): Map<string, Uint8Array> {
  return new Map(
    Array.from({ length: count }, (_, n) => [
      `s/${n}.tar`,
      tar(['a', 'b', 'c'].map((name) => ({ name: `${name}.bin`, data: 'x'.repeat(version) }))),
    ]),
  );
}

/** An index run over objects in memory; what is listed is in the order given, two objects a page. */
function job(store: MemoryStore, over: Partial<IndexJob> = {}, listed = store.listed()): IndexJob {
  return {
    lister: {
      async *listObjects() {
        for (let i = 0; i < listed.length; i += 2) yield listed.slice(i, i + 2);
      },
    },
    openReader: async () => store,
    ...{ bucket: BUCKET, prefix: '', format: 'auto', concurrency: 3, output: null },
    ...over,
  };
}

async function rowsOf(given: IndexJob): Promise<SampleRow[]> {
  const rows = await indexRows(given);
  try {
    const sorted = [...rows.sorted()];
    assert.is(sorted.length, rows.rows);
    return sorted;
  } finally {
    rows.close(true);
  }
}

const place = ({ key, offset, length }: SampleRow) => `${key} ${offset} ${length}`;
const empty = Buffer.alloc(0);
const one = tar([{ name: 'a.bin', data: '1' }]);

const FOUND: [situation: string, keys: string[], format: string, why: RegExp][] = [
  [
    'no known ending',
    ['a.jpg', 'b.bin', 'c'],
    'objects',
    /^3 objects \("a.jpg", "b.bin", …\) of no other format$/,
  ],
  ['tar shards', ['a.tar', 'b.TAR'], 'tar', /^2 tar \("a.tar", "b.TAR"\)$/],
  [
    'shards with their indexes and a file beside',
    ['a.tar', 'a.idx', 'b.tar', 'LICENSE'],
    'tar',
    /^2 tar .*, beside 1 other objects$/,
  ],
  ['an index alone is an object', ['a.idx'], 'objects', /^1 object /],
];
for (const [situation, keys, format, why] of FOUND) {
  test(`format: ${situation}`, async () => {
    const store = new MemoryStore(
      new Map(keys.map((key) => [key, /tar$/i.test(key) ? one : Buffer.from('x')])),
    );
    const said: string[][] = [];
    const rows = await indexRows(job(store, { onFormat: (name, reason) => said.push([name, reason]) }));
    rows.close(true);
    assert.is(rows.format, format);
    assert.is(said[0]?.[0], format);
    assert.match(said[0]?.[1] ?? '', why);
  });
}

test('a mix is an error that lists what was seen; a named format takes its own', async () => {
  const store = new MemoryStore(
    new Map([
      ['1.jpg', empty],
      ['2.jpg', empty],
      ['a.tar', one],
    ]),
  );
  const error = (await thrown(() => indexRows(job(store)))) as Os2gError;
  assert.is(error.code, 'mixed_formats');
  assert.match(error.message, /1 tar \("a.tar"\), 2 other \("1.jpg", "2.jpg"\)/);
  assert.equal((await rowsOf(job(store, { format: 'tar' }))).map(place), ['a.tar 512 1']);
  assert.equal((await rowsOf(job(store, { format: 'objects' }))).map(place), [
    '1.jpg 0 0',
    '2.jpg 0 0',
    `a.tar 0 ${one.length}`,
  ]);
});

const REFUSED: [
  situation: string,
  over: Partial<IndexJob>,
  objects: Map<string, Uint8Array>,
  code: string,
][] = [
  ['a format that is not there', { format: 'mds', formats: [tarFormat] }, shards(1), 'not_in_this_version'],
  ['no object', {}, new Map(), 'no_objects'],
  ['no sample in any shard', {}, new Map([['a.tar', tar([])]]), 'no_samples'],
  ['a damaged shard', {}, new Map([...shards(3), ['s/1.tar', one.subarray(0, 600)]]), 'bad_shard'],
];
for (const [situation, over, objects, code] of REFUSED) {
  test(`refused: ${situation}`, async () => {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const given = job(new MemoryStore(objects), { output, ...over });
      const error = (await thrown(() => indexRows(given))) as Os2gError;
      assert.is(error.code, code);
      if (code === 'bad_shard') assert.is(error.context.key, 's/1.tar');
      const left = readdirSync(folder);
      assert.ok(
        left.every((name) => name === 'm.arrow.work'),
        String(left),
      );
    });
  });
}

test('a key listed twice, far apart: refused, for objects and for shards', async () => {
  for (const key of ['a.jpg', 'a.tar']) {
    const store = new MemoryStore(new Map([[key, one]]));
    const listed = [
      listedObject(key, one.length),
      listedObject(`${key}z.tar`, one.length),
      listedObject(key, one.length),
    ];
    const error = (await thrown(() =>
      rowsOf(job(store, { format: key === 'a.jpg' ? 'objects' : 'tar' }, listed)),
    )) as Os2gError;
    assert.is(error.code, 'bad_listing');
  }
});

test('the order of the listing, the number of pieces at one time and what is spilled leave no trace', async () => {
  await inFolder(async (folder) => {
    const store = new MemoryStore(shards(9));
    const want = await rowsOf(job(store, { concurrency: 1 }));
    assert.is(want.length, 27);
    const output = join(folder, 'm.arrow');
    const other = { concurrency: 8, output, limits: { rows: 2, bytes: 2 ** 20 } };
    assert.equal(await rowsOf(job(store, other, store.listed().reverse())), want);
    assert.equal(readdirSync(folder), []);
  });
});

test('a run that fails keeps what is done; the next one goes on, whatever tore the end of the file', async () => {
  for (const tear of ['nothing', 'cut', 'garbage', 'flip'] as const) {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const good = shards(6);
      const bad = new MemoryStore(new Map([...good, ['s/5.tar', Buffer.alloc(4096, 1)]]));
      const listed = [...good].map(([key, bytes]) => listedObject(key, bytes.length));
      const error = (await thrown(() =>
        indexRows(job(bad, { output, concurrency: 1 }, listed)),
      )) as Os2gError;
      assert.is(error.context.key, 's/5.tar');
      const work = workFileOf(output);
      const { size } = statSync(work);
      if (tear === 'cut') truncateSync(work, size - 3);
      if (tear === 'garbage') writeFileSync(work, 'torn', { flag: 'a' });
      if (tear === 'flip') {
        const bytes = readFileSync(work);
        bytes[size - 5] = (bytes[size - 5] as number) ^ 1;
        writeFileSync(work, bytes);
      }
      const store = new MemoryStore(good);
      const rows = await indexRows(job(store, { output, concurrency: 1 }, listed));
      const kept = tear === 'cut' || tear === 'flip' ? 4 : 5;
      assert.equal(rows.pieces, { read: 6 - kept, fromWorkFile: kept, fromManifest: 0 });
      assert.equal(new Set(store.ranges.map(([key]) => key)).size, 6 - kept);
      assert.equal([...rows.sorted()].map(place), (await rowsOf(job(new MemoryStore(good)))).map(place));
      rows.close(true);
      assert.not(existsSync(work));
    });
  }
});

const VERSIONS: [situation: string, etag: string | null, sizeBytes: number, refusal: RegExp | null][] = [
  ['the same version', '"1"', 10, null],
  [
    'another ETag',
    '"2"',
    10,
    /^what lists "a" disagrees on its version: 10 bytes .* "1", and 10 bytes .* "2"$/,
  ],
  ['no ETag', null, 10, /and 10 bytes with no ETag$/],
  ['another size', '"1"', 11, /and 11 bytes with the ETag "1"$/],
];
for (const [situation, etag, sizeBytes, refusal] of VERSIONS) {
  test(`two lists that name one object: ${situation}`, async () => {
    const row: SampleRow = { ...objectRow({ ...listedObject('a', 10), etag: '"1"' }), length: 5 };
    const rows = [row, { ...row, offset: 5, etag, objectSizeBytes: sizeBytes }];
    const units = rows.map(
      (one, i): IndexUnit => ({
        object: listedObject(`s/${i}.tar`, 10),
        rows: async function* () {
          yield [one];
        },
      }),
    );
    const lists: SampleFormat = { ...tarFormat, plan: async () => ({ units, notes: [] }) };
    const found = await indexRows(job(new MemoryStore(shards(2)), { formats: [lists] }));
    try {
      if (refusal === null) return assert.is([...found.sorted()].length, 2);
      assert.throws(
        () => [...found.sorted()],
        ({ code, exitCode, message }: Os2gError) =>
          code === 'bad_index' && exitCode === 1 && refusal.test(message),
      );
    } finally {
      found.close(true);
    }
  });
}

test('two runs to one output at once: both come to the end, though they share the work file', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const store = new MemoryStore(shards(3));
    const want = (await rowsOf(job(store))).map(place);
    const both = await Promise.all([
      indexRows(job(store, { output, concurrency: 1 })),
      indexRows(job(store, { output, concurrency: 1 })),
    ]);
    for (const rows of both) {
      assert.equal([...rows.sorted()].map(place), want);
      rows.close(true);
    }
    assert.equal(readdirSync(folder), []);
  });
});

/** Listens to the signal while a read lasts, as the reader of a store does. */
class ListeningStore extends MemoryStore {
  mostListening = 0;
  private listening = 0;

  override async read(
    object: ListedObject,
    offset: number,
    length: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array> {
    const stop = (): void => {};
    signal?.addEventListener('abort', stop);
    this.mostListening = Math.max(this.mostListening, ++this.listening);
    await new Promise(setImmediate);
    this.listening--;
    signal?.removeEventListener('abort', stop);
    return super.read(object, offset, length);
  }
}

test('many pieces at one time raise no warning of a leak', async () => {
  const warned: Error[] = [];
  const onWarning = (warning: Error): void => void warned.push(warning);
  process.on('warning', onWarning);
  const store = new ListeningStore(shards(20));
  await rowsOf(job(store, { concurrency: 20 }));
  await new Promise(setImmediate);
  process.off('warning', onWarning);
  assert.is(store.mostListening, 20);
  assert.equal(warned, []);
});

test('pieces of another version, another run or without an ETag are read again', async () => {
  const listedWith = (etag: string | null): ListedObject[] =>
    [...shards(2)].map(([key, bytes]) => ({ ...listedObject(key, bytes.length), etag }));
  const SITUATIONS: [string, ListedObject[], Partial<IndexJob>, number][] = [
    ['the same', listedWith('"1"'), {}, 2],
    ['another ETag', listedWith('"2"'), {}, 0],
    ['no ETag', listedWith(null), {}, 0],
    [
      'another size',
      listedWith('"1"').map((object) => ({ ...object, sizeBytes: object.sizeBytes + 512 })),
      {},
      0,
    ],
    ['another prefix', listedWith('"1"'), { prefix: 's' }, 0],
  ];
  for (const [situation, listed, over, kept] of SITUATIONS) {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const padded = [...shards(2)].map(
        ([key, bytes]) => [key, Buffer.concat([bytes, Buffer.alloc(512)])] as const,
      );
      const store = new MemoryStore(new Map(padded));
      (await indexRows(job(store, { output }, listedWith('"1"')))).close(false);
      const again = await indexRows(job(store, { output, ...over }, listed));
      assert.is(again.pieces.fromWorkFile, kept, situation);
      assert.is(again.rows, 6, situation);
      again.close(true);
    });
  }
});

/** A format whose pieces wait until they are told to go on, or are ended. */
function waitingFormat(): { format: SampleFormat; started: Promise<void>; ended: string[] } {
  const ended: string[] = [];
  let begin = (): void => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const unitOf = (object: ListedObject): IndexUnit => ({
    object,
    async *rows(_reader, signal) {
      begin();
      await new Promise<void>((_, reject) =>
        signal?.addEventListener('abort', () => {
          ended.push(object.key);
          reject(new AbortedError(signal.reason));
        }),
      );
      yield [];
    },
  });
  const format: SampleFormat = {
    name: 'npy',
    claims: (key) => key.endsWith('.npy'),
    plan: async (objects) => ({ units: objects.map(unitOf), notes: [] }),
  };
  return { format, started, ended };
}

test('an abort ends all pieces at once, and leaves no file but the work file', async () => {
  await inFolder(async (folder) => {
    const { format, started, ended } = waitingFormat();
    const store = new MemoryStore(new Map(['a', 'b', 'c', 'd'].map((name) => [`${name}.npy`, one])));
    const abort = new AbortController();
    const output = join(folder, 'm.arrow');
    const run = thrown(() => indexRows(job(store, { output, formats: [format], signal: abort.signal })));
    await started;
    abort.abort('enough');
    assert.instance(await run, AbortedError);
    assert.equal(ended.sort(), ['a.npy', 'b.npy', 'c.npy']);
    assert.equal(readdirSync(folder), [], 'nothing was done: nothing is kept');
  });
});

test('update: only what changed is read, and all is counted', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const facts = { bucket: BUCKET, prefix: '', format: 'tar' };
    const before = shards(5);
    const first = await indexRows(job(new MemoryStore(before), { output }));
    await writeRows(output, facts, first);
    first.close(true);

    const now = new Map(before);
    now.delete('s/0.tar');
    now.set('s/3.tar', [...shards(4, 600).values()][3] as Uint8Array);
    now.set('s/9.tar', one);
    const store = new MemoryStore(now);
    const old = new OldManifest(await readManifest(output), output, { bucket: BUCKET, prefix: '' });
    const rows = await indexRows(job(store, { output, old, format: 'tar' }));
    const written = await writeRows(output, facts, rows);
    rows.close(true);
    assert.equal(rows.update, { added: 1, removed: 1, changed: 1, unchanged: 3 });
    assert.equal(rows.pieces, { read: 2, fromWorkFile: 0, fromManifest: 3 });
    assert.equal([...new Set(store.ranges.map(([key]) => key))].sort(), ['s/3.tar', 's/9.tar']);
    const anew = join(folder, 'anew.arrow');
    const whole = await indexRows(job(new MemoryStore(now), { output: anew }));
    const described = await writeRows(anew, facts, whole);
    whole.close(true);
    assert.equal(written, described);
    assert.ok(readFileSync(output).equals(readFileSync(anew)), 'as indexed anew');
  });
});

test('update of plain objects: what is known of unchanged ones stays, what is listed counts', async () => {
  await inFolder(async (folder) => {
    const output = join(folder, 'm.arrow');
    const facts = { bucket: BUCKET, prefix: '', format: 'objects' };
    const row = (key: string, etag: string | null, label: string): SampleRow => ({
      ...{ key, offset: 0, length: 5, etag, objectSizeBytes: 5, label },
      ...{ fields: null, width: 9, height: null, dtype: null, shape: null },
    });
    const known = [
      row('a', '"1"', 'mine'),
      row('b', '"1"', 'mine'),
      row('c', null, 'mine'),
      row('d', '"1"', 'mine'),
    ];
    await writeRows(output, facts, { rows: 4, optional: ['label', 'width'], sorted: () => known });
    const listed = ['x/0', 'a', 'b', 'c'].map((key) => ({
      ...listedObject(key, 5),
      etag: key === 'b' ? '"2"' : '"1"',
    }));
    const old = new OldManifest(await readManifest(output), output, { bucket: BUCKET, prefix: '' });
    const rows = await indexRows(job(new MemoryStore(new Map()), { output, old, format: 'objects' }, listed));
    await writeRows(output, facts, rows);
    rows.close(true);
    assert.equal(rows.update, { added: 1, removed: 1, changed: 2, unchanged: 1 });
    const read = await readManifest(output);
    const seen = [0, 1, 2, 3].map((i) => [read.key(i), read.etag(i), read.label(i), read.width(i)]);
    assert.equal(seen, [
      ['a', '"1"', 'mine', 9],
      ['b', '"2"', null, null],
      ['c', '"1"', null, null],
      ['x/0', '"1"', 'x', null],
    ]);
  });
});

const NOT_UPDATED: [
  situation: string,
  of: { bucket: string; prefix: string },
  keys: string[],
  message: RegExp,
][] = [
  [
    'another prefix',
    { bucket: BUCKET, prefix: 'x' },
    ['a'],
    /it is of s3:\/\/bucket\/, not of s3:\/\/bucket\/x/,
  ],
  ['another bucket', { bucket: 'other', prefix: '' }, ['a'], /not of s3:\/\/other\//],
  ['another order', { bucket: BUCKET, prefix: '' }, ['a', 'c', 'b'], /row 2 is not in the order of keys/],
];
for (const [situation, of, keys, message] of NOT_UPDATED) {
  test(`update refused: ${situation}`, async () => {
    await inFolder(async (folder) => {
      const output = join(folder, 'm.arrow');
      const rows = keys.map((key) => ({
        ...{ key, offset: 0, length: 1, etag: null, objectSizeBytes: 1, label: null },
        ...{ fields: null, width: null, height: null, dtype: null, shape: null },
      }));
      const facts = { bucket: BUCKET, prefix: '', format: 'objects' };
      await writeRows(output, facts, { rows: rows.length, optional: [], sorted: () => rows });
      const manifest = await readManifest(output);
      const error = (await thrown(() => new OldManifest(manifest, output, of))) as Os2gError;
      assert.is(error.code, 'bad_update');
      assert.match(error.message, message);
    });
  });
}

test.run();
