import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { Crc32c } from '@aws-crypto/crc32c';
import { Crc64Nvme } from '@aws-sdk/crc64-nvme';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { PortableEngineOptions } from '../../runtime-node/engine/portable.js';
import {
  archived,
  type Fault,
  type FaultMatch,
  type ObjectAttributes,
  type ScriptedStore,
  startStore,
} from '../store/index.js';
import { accessTo, Driver, fixedCredentials, until } from './engine-kit.js';
import { objectAnswer, startRawStore } from './raw-store.js';

const BODY = Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * 7919) & 255));

function u32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes.toString('base64');
}
async function crc64(body: Uint8Array): Promise<string> {
  const sum = new Crc64Nvme();
  sum.update(body);
  return Buffer.from(await sum.digest()).toString('base64');
}
const sums = {
  crc32: u32(crc32(BODY)),
  crc32c: u32(new Crc32c().update(BODY).digest()),
  crc64nvme: await crc64(BODY),
  sha1: createHash('sha1').update(BODY).digest('base64'),
  sha256: createHash('sha256').update(BODY).digest('base64'),
};

async function withObject(
  attributes: ObjectAttributes,
  faults: { match?: FaultMatch; times?: number; fault: Fault }[],
  over: Partial<Omit<PortableEngineOptions, 'access' | 'table'>>,
  run: (driver: Driver, store: ScriptedStore) => Promise<void>,
): Promise<void> {
  const store = await startStore({});
  store.createBucket('data');
  const { etag } = store.put('data', 'k', BODY, attributes);
  for (const rule of faults) store.faults.add(rule);
  const access = accessTo(store.port, {
    pathPrefix: '/data',
    credentials: fixedCredentials({ ...store.credentials, sessionToken: null }),
  });
  const driver = new Driver(access, [{ key: 'k', size: BODY.length, etag }], over);
  try {
    await run(driver, store);
    await driver.engine.close();
    await until(() => store.openSockets === 0);
  } finally {
    await driver.engine.close();
    await store.close();
  }
}

test('bodies with and without a checksum are counted, and the counts outlive the engine', async () => {
  const counted: { checked: number; unchecked: number }[] = [];
  for (const checksums of [{ crc32: sums.crc32 }, {}]) {
    await withObject({ checksums }, [], { verify: 'checksum' }, async (driver) => {
      await driver.get(0, 0, BODY.length);
      counted.push({ ...driver.engine.checksums });
      await driver.engine.close();
      counted.push({ ...driver.engine.checksums });
    });
  }
  const [one, other] = [
    { checked: 1, unchecked: 0 },
    { checked: 0, unchecked: 1 },
  ];
  assert.equal(counted, [one, one, other, other]);
});

// Checksums of whole objects: always looked at, asked for with verify checksum only.
for (const algorithm of Object.keys(sums) as (keyof typeof sums)[]) {
  test(`checksum ${algorithm}: right, wrong, composite, of a range`, async () => {
    const checksums = { [algorithm]: sums[algorithm] };
    const verify = { verify: 'checksum' } as const;
    await withObject({ checksums }, [], verify, async (driver) => {
      const got = await driver.get(0, 0, BODY.length);
      assert.is(got.what, 'fetched', got.failure?.message);
      assert.equal(got.target, BODY);
    });
    await withObject({ checksums }, [{ fault: { kind: 'corrupt' } }], verify, async (driver) => {
      const got = await driver.get(0, 0, BODY.length);
      assert.is(got.what, 'checksum');
      assert.match(got.failure?.message ?? '', new RegExp(`the ${algorithm} checksum is`));
    });
    await withObject({ checksums }, [{ fault: { kind: 'wrong-checksum' } }], verify, async (driver) => {
      assert.is((await driver.get(0, 0, BODY.length)).what, 'checksum');
      assert.is((await driver.get(0, 5, 100)).what, 'fetched', 'a range is not held against it');
    });
    const composite = { checksums: { [algorithm]: `${sums.crc32}-3` }, checksumType: 'COMPOSITE' } as const;
    await withObject(composite, [], verify, async (driver) => {
      assert.is((await driver.get(0, 0, BODY.length)).what, 'fetched');
    });
  });
}

test('a checksum that comes unasked is checked; none is asked for by default', async () => {
  const set = { 'x-amz-checksum-crc32': 'AAAAAA==' };
  await withObject({}, [{ fault: { kind: 'headers', set } }], {}, async (driver, store) => {
    assert.is((await driver.get(0, 0, BODY.length)).what, 'checksum');
    assert.not('x-amz-checksum-mode' in (store.requests()[0]?.headers ?? {}));
  });
});

interface Row {
  name: string;
  fault: Fault;
  range?: [number, number];
  outcome: string;
}
const HALF: [offset: number, length: number] = [1000, 100_000];
const rows: Row[] = [
  { name: 'cut, in order', fault: { kind: 'cut', afterBodyShare: 0.5, how: 'fin' }, outcome: 'reset' },
  { name: 'cut, reset', fault: { kind: 'cut', afterBodyShare: 0.5, how: 'rst' }, outcome: 'reset' },
  { name: 'closed instead of an answer', fault: { kind: 'close', how: 'fin' }, outcome: 'reset' },
  {
    name: 'short, Content-Length says so',
    fault: { kind: 'wrong-length', bodyDelta: -10, headerDelta: -10 },
    outcome: 'short',
  },
  {
    name: 'short, Content-Length says otherwise',
    fault: { kind: 'wrong-length', bodyDelta: -10 },
    outcome: 'reset',
  },
  {
    name: 'short, no Content-Length',
    fault: { kind: 'wrong-length', bodyDelta: -10, headerDelta: 'absent' },
    outcome: 'short',
  },
  {
    name: 'long, Content-Length says so',
    fault: { kind: 'wrong-length', bodyDelta: 10, headerDelta: 10 },
    outcome: 'long',
  },
  {
    name: 'long, no Content-Length',
    fault: { kind: 'wrong-length', bodyDelta: 10, headerDelta: 'absent' },
    outcome: 'long',
  },
  {
    name: 'another range',
    fault: { kind: 'wrong-range', shiftBytes: 5, bodyToo: true },
    range: HALF,
    outcome: 'range',
  },
  { name: 'range ignored', fault: { kind: 'ignore-range' }, range: HALF, outcome: 'range' },
  {
    name: 'an error document in a 200',
    fault: { kind: 'error-in-200', code: 'InternalError' },
    outcome: 'server',
  },
  {
    name: 'an error document in a 206',
    fault: { kind: 'error-in-200', code: 'InternalError', status: 206 },
    range: HALF,
    outcome: 'server',
  },
  { name: 'not HTTP', fault: { kind: 'garbage' }, outcome: 'protocol' },
  { name: 'archived', fault: archived(), outcome: 'archived' },
  { name: 'no ETag', fault: { kind: 'etag', value: null }, outcome: 'changed' },
  { name: 'chunked', fault: { kind: 'chunked', chunkBytes: 777 }, outcome: 'fetched' },
  { name: 'dripping', fault: { kind: 'drip', bytes: 30_000, everyMs: 1 }, outcome: 'fetched' },
  { name: 'replaced before', fault: { kind: 'replace', body: BODY.subarray(1) }, outcome: 'changed' },
  {
    name: 'replaced by one of the same length',
    fault: { kind: 'replace', body: Buffer.alloc(BODY.length) },
    outcome: 'changed',
  },
];
for (const { name, fault, range: [offset, length] = [0, BODY.length], outcome } of rows) {
  test(`store: ${name} -> ${outcome}; the next GET is unharmed`, async () => {
    await withObject({}, [{ match: { operation: 'get' }, times: 1, fault }], {}, async (driver, store) => {
      const got = await driver.get(0, offset, length);
      assert.is(got.what, outcome, got.failure?.message);
      const next = await driver.get(0, offset, length, 2);
      assert.is(next.what, fault.kind === 'replace' ? 'changed' : 'fetched');
      if (next.what === 'fetched') assert.equal(next.target, BODY.subarray(offset, offset + length));
      assert.is(store.counters.refused, 0);
    });
  });
}

test('case 8: replaced between two parts of one sample', async () => {
  for (const known of [true, false]) {
    await withObject(
      {},
      [{ match: { nth: 1 }, fault: { kind: 'replace', when: 'after', body: Buffer.alloc(BODY.length) } }],
      known ? {} : { verify: 'size' },
      async (driver) => {
        assert.is((await driver.get(0, 0, 1000)).what, 'fetched');
        const got = await driver.get(0, 1000, 1000);
        assert.is(got.what, 'changed');
        assert.ok(got.failure?.expectedEtag, 'names what was expected');
      },
    );
  }
});

test('case 7: one byte, the last byte, and a range that cannot be', async () => {
  await withObject({}, [], {}, async (driver, store) => {
    assert.equal((await driver.get(0, 0, 1)).target, BODY.subarray(0, 1));
    assert.equal((await driver.get(0, BODY.length - 1, 1)).target, BODY.subarray(-1));
    for (const [offset, length] of [
      [BODY.length, 1],
      [0, 0],
      [0, BODY.length + 1],
      [-1, 5],
      [Number.NaN, 5],
    ] as const) {
      driver.engine.get(9, 1, 0, offset, length, Buffer.alloc(length));
      await until(() => driver.outcomes.at(-1)?.id === 9);
      assert.is(driver.outcomes.pop()?.what, 'internal');
    }
    assert.is(store.counters.gets, 2);
  });
});

test('answers torn in any pieces, cut anywhere: the right bytes or a failure, once', async () => {
  const small = BODY.subarray(0, 400);
  let plan: { pieces: number[]; cutAt: number | null } = { pieces: [], cutAt: null };
  const store = await startRawStore(async (request, socket) => {
    const whole = objectAnswer(request, small, '"e"');
    const { pieces, cutAt } = plan;
    const bytes = cutAt === null ? whole : whole.subarray(0, cutAt % whole.length);
    let at = 0;
    for (const piece of [...pieces, bytes.length]) {
      socket.write(bytes.subarray(at, at + piece));
      at += piece;
      await new Promise((resolve) => setImmediate(resolve));
      if (at >= bytes.length) break;
    }
    if (cutAt !== null) socket.destroy();
  });
  const driver = new Driver(accessTo(store.port), [{ key: 'k', size: small.length, etag: '"e"' }]);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 200 }), { maxLength: 6 }),
      fc.option(fc.nat(600)),
      fc.nat(399),
      async (pieces, cutAt, offset) => {
        plan = { pieces, cutAt };
        const ends = driver.outcomes.length;
        const got = await driver.get(0, offset, small.length - offset);
        assert.is(driver.outcomes.length, ends + 1);
        if (cutAt === null) assert.is(got.what, 'fetched', got.failure?.message);
        else assert.ok(['reset', 'stale'].includes(got.what), `${got.what}: ${got.failure?.message}`);
        if (got.what === 'fetched') assert.equal(got.target, small.subarray(offset));
      },
    ),
    { numRuns: 150 },
  );
  await driver.engine.close();
  await store.close();
});

test.run();
