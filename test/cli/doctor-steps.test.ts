import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Check } from '../../runtime-node/cli/doctor/check.js';
import { measure, throughputCheck } from '../../runtime-node/cli/doctor/store/throughput.js';
import { checkStore } from '../../runtime-node/cli/doctor/store-check.js';
import type { S3Options } from '../../runtime-node/s3/location.js';
import { FakeEngine } from '../feed/fake-engine.js';
import { MS } from '../feed/kit.js';
import { VirtualTime } from '../feed/virtual-time.js';
import { keysOf, withAwsEnv } from '../s3/aws-env.js';
import {
  type FaultRule,
  type ScriptedStore,
  type StoreOptions,
  startStore,
  wrongRegion,
} from '../store/index.js';

const ORDER = [
  ...['endpoint', 'dns', 'connect', 'tls', 'endpoint answers', 'clock', 'credentials', 'region', 'listing'],
  ...['head', 'range', 'if-match', 'checksum', 'throughput (1 connection)', 'throughput (16 connections)'],
];
const SIZE = 300_000;

interface Situation {
  name: string;
  store?: StoreOptions;
  /** Of the bucket. */
  region?: string;
  faults?: FaultRule[];
  env?: Record<string, string>;
  s3?: S3Options;
  checksums?: Record<string, string>;
  checksumType?: 'FULL_OBJECT' | 'COMPOSITE';
  sizes?: number[];
  archived?: boolean;
  /** The step that is not well, how, and what it says; every later one is skipped after a failure. */
  step: string | null;
  status?: Check['status'];
  says?: RegExp;
  mend?: RegExp;
}

const status = (code: string, number: number, header: string): FaultRule => ({
  match: { operation: 'get', header },
  fault: { kind: 'status', status: number, code },
});

const SITUATIONS: Situation[] = [
  { name: 'all is well', step: null },
  {
    name: 'no such host',
    s3: { endpoint: 'http://no-such-host.invalid:9' },
    step: 'dns',
    says: /no such name|looked up/,
    mend: /--endpoint/,
  },
  {
    name: 'nobody listens',
    s3: { endpoint: 'http://127.0.0.1:1' },
    step: 'connect',
    says: /nothing listens/,
    mend: /--endpoint/,
  },
  {
    name: 'connections are cut',
    faults: [{ match: { operation: 'connect', afterRequests: 1 }, fault: { kind: 'close', how: 'rst' } }],
    step: 'endpoint answers',
    says: /127\.0\.0\.1/,
    mend: /--endpoint/,
  },
  {
    name: 'http at an https endpoint',
    s3: { endpoint: 'https:' },
    step: 'tls',
    says: /speaks http, not https|the handshake failed/,
    mend: /--endpoint/,
  },
  {
    name: 'a clock an hour ahead',
    store: { wallClockMs: () => Date.now() },
    faults: [
      {
        match: { operation: 'list' },
        fault: { kind: 'headers', set: { Date: new Date(Date.now() - 3_600_000).toUTCString() } },
      },
    ],
    step: 'clock',
    says: /ahead of the store's: signatures are refused/,
    mend: /NTP/,
  },
  {
    name: 'two minutes',
    faults: [
      {
        match: { operation: 'list' },
        fault: { kind: 'headers', set: { Date: new Date(Date.now() + 130_000).toUTCString() } },
      },
    ],
    step: 'clock',
    status: 'warn',
    says: /behind/,
    mend: /NTP/,
  },
  {
    name: 'no credentials',
    env: { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    step: 'credentials',
    says: /no AWS credentials/,
    mend: /--anonymous/,
  },
  {
    name: 'the bucket of another region',
    region: 'eu-west-3',
    step: 'region',
    says: /is in eu-west-3, requests are signed for us-east-1/,
    mend: /--region eu-west-3/,
  },
  {
    name: 'a redirect that says nothing',
    faults: [
      {
        match: { operation: 'list', header: 'authorization' },
        fault: wrongRegion('eu-west-3', { header: false, body: false }),
      },
    ],
    step: 'region',
    says: /names no other region/,
    mend: /--region/,
  },
  {
    name: 'a wrong secret',
    env: { AWS_SECRET_ACCESS_KEY: 'not-this-one' },
    step: 'listing',
    says: /signature is not right/,
    mend: /AWS_SECRET_ACCESS_KEY/,
  },
  {
    name: 'head refused',
    faults: [{ match: { operation: 'head' }, fault: { kind: 'status', status: 403, code: 'AccessDenied' } }],
    step: 'head',
    says: /access is denied/,
    mend: /s3:GetObject/,
  },
  {
    name: 'another ETag than listed',
    faults: [{ match: { operation: 'head' }, fault: { kind: 'etag', value: '"other"' } }],
    step: 'head',
    status: 'warn',
    says: /the listing says/,
    mend: /--verify size/,
  },
  {
    name: 'ranges ignored',
    faults: [{ match: { operation: 'get', range: true }, fault: { kind: 'ignore-range' } }],
    step: 'range',
    says: /ignores ranges/,
    mend: /between here and the store/,
  },
  {
    name: 'a shifted range',
    faults: [{ match: { operation: 'get', range: true }, fault: { kind: 'wrong-range', shiftBytes: 1 } }],
    step: 'range',
    says: /Content-Range/,
    mend: /between/,
  },
  {
    name: 'If-Match ignored',
    faults: [{ match: { operation: 'get', header: 'if-match' }, fault: { kind: 'ignore-if-match' } }],
    step: 'if-match',
    status: 'warn',
    says: /ignores If-Match/,
    mend: /compares the ETag/,
  },
  {
    name: 'If-Match refused',
    faults: [status('NotImplemented', 501, 'if-match')],
    step: 'if-match',
    status: 'warn',
    says: /refuses If-Match \(status 501, NotImplemented/,
    mend: /leaves If-Match out/,
  },
  {
    name: 'a checksum',
    checksums: { crc32: 'AAAAAA==' },
    step: 'checksum',
    status: 'ok',
    says: /crc32 of the whole object/,
  },
  {
    name: 'a composite checksum',
    checksums: { crc32: 'AAAAAA==-2' },
    checksumType: 'COMPOSITE',
    step: 'checksum',
    status: 'info',
    says: /composite/,
  },
  {
    name: 'checksums refused',
    faults: [status('InvalidArgument', 400, 'x-amz-checksum-mode')],
    step: 'checksum',
    status: 'warn',
    says: /refuses to be asked/,
    mend: /--verify checksum out/,
  },
  {
    name: 'bodies are cut',
    faults: [
      {
        match: { operation: 'get', range: 'bytes=0-299999' },
        fault: { kind: 'cut', afterBodyBytes: 100, how: 'fin' },
      },
      {
        match: { operation: 'get', header: 'if-match', range: false },
        fault: { kind: 'cut', afterBodyBytes: 100, how: 'fin' },
      },
    ],
    step: 'throughput (1 connection)',
    says: /cut/,
    mend: /./,
  },
  { name: 'only empty objects', sizes: [0, 0], step: 'range', status: 'info', says: /is empty/ },
  { name: 'only archived objects', archived: true, step: 'head', status: 'info', says: /is archived/ },
];

async function check(situation: Situation): Promise<{ checks: Check[]; store: ScriptedStore }> {
  const { store: options, faults = [], env = {}, region, sizes = [SIZE, SIZE], archived } = situation;
  const store = await startStore({ seed: 5, ...options });
  store.createBucket('data', region === undefined ? {} : { region });
  for (const [n, sizeBytes] of sizes.entries()) {
    const { checksums, checksumType } = situation;
    store.put(
      'data',
      `a/${n}`,
      { sizeBytes, seed: n },
      { checksums, checksumType, ...(archived && { storageClass: 'GLACIER' }) },
    );
  }
  for (const rule of faults) store.faults.add(rule);
  const settings = { ...keysOf(store.credentials), AWS_REGION: 'us-east-1', ...env };
  for (const [name, value] of Object.entries(settings))
    if (value === '') delete (settings as Record<string, string>)[name];
  const endpoint =
    situation.s3?.endpoint === 'https:'
      ? `https://127.0.0.1:${store.port}`
      : (situation.s3?.endpoint ?? store.endpoint);
  try {
    const checks = await withAwsEnv(settings, () =>
      checkStore('s3://data/a/', { endpoint }, new AbortController().signal),
    );
    return { checks, store };
  } finally {
    await store.close();
  }
}

for (const situation of SITUATIONS) {
  test(`doctor: ${situation.name}`, async () => {
    const { checks } = await check(situation);
    for (const { figures } of checks) {
      const { seconds = 0, first_byte_s = 0, requests = 0, connections = 1 } = figures ?? {};
      assert.ok(
        (first_byte_s * requests) / 2 <= seconds * connections,
        'half the first bytes fit into the time',
      );
    }
    const shown = JSON.stringify(checks, null, 1);
    assert.equal(
      checks.map(({ name }) => name),
      ORDER,
      shown,
    );
    const at = situation.step === null ? -1 : ORDER.indexOf(situation.step);
    const wanted = situation.status ?? 'fail';
    for (const [n, { name, status, detail, mend }] of checks.entries()) {
      if (n === at) {
        assert.is(status, wanted, shown);
        assert.match(detail, situation.says ?? /./);
        if (situation.mend) assert.match(mend ?? '', situation.mend);
        continue;
      }
      // Credentials come after the network and need none; neither the clock nor a range is ground to stand on for what follows.
      const goesOn = name === 'credentials' || situation.step === 'clock' || situation.step === 'range';
      if (n < at || at < 0) assert.ok(status === 'ok' || status === 'info', shown);
      else if (wanted === 'fail' && !goesOn) {
        assert.is(status, name.startsWith('throughput') && n === at + 1 ? status : 'skip', shown);
      }
      assert.is(mend === null, status !== 'warn' && status !== 'fail', name);
    }
  });
}

test('a store that names only one address of two reached: a warning, and all goes on', async () => {
  const store = await startStore({ seed: 5 });
  store.createBucket('data');
  store.put('data', 'a/1', { sizeBytes: 10, seed: 1 });
  const endpoint = `http://localhost:${store.port}`;
  const checks = await withAwsEnv({ ...keysOf(store.credentials), AWS_REGION: 'us-east-1' }, () =>
    checkStore('s3://data/a/', { endpoint }, new AbortController().signal),
  );
  await store.close();
  const of = (name: string) => checks.find((check) => check.name === name);
  const both = of('dns')?.detail.includes('::1') === true;
  assert.is(of('connect')?.status, both ? 'warn' : 'ok', JSON.stringify(checks));
  assert.is(of('listing')?.status, 'ok');
});

test('throughput: what is read is bounded in bytes, requests and time, and the figures are what was measured', async () => {
  const rows: [
    latencyMs: number,
    bytes: number,
    limitMs: number,
    objectBytes: number,
    outcome: [bytes: number, seconds: number, requests: number],
  ][] = [
    // The bytes end it; an object of 5 MiB is read in three pieces.
    [10, 6 * 2 ** 20, 1000, 5 * 2 ** 20, [6 * 2 ** 20, 0.04, 4]],
    // The time ends it: the fifth is cancelled.
    [100, 2 ** 30, 450, 5 * 2 ** 20, [7 * 2 ** 20, 0.45, 5]],
    [10, 1000, 1000, 5 * 2 ** 20, [1000, 0.01, 1]],
    // The requests end it.
    [10, 2 ** 30, 1000, 200, [4000, 0.2, 20]],
  ];
  for (const [latencyMs, bytes, limitMs, objectBytes, outcome] of rows) {
    const time = new VirtualTime();
    const engine = new FakeEngine({
      time,
      key: String,
      byteAt: () => 1,
      fate: () => ({ latencyNs: latencyMs * MS }),
    });
    const bounds = { connections: 1, bytes, requests: 20, durationNs: limitMs * MS };
    const measured = await time.run(measure(engine, [objectBytes], bounds, time, time));
    assert.equal([measured.bytes, measured.seconds, measured.requests], outcome);
    assert.is(engine.sockets, 0);
    assert.is(time.pending, 0);
    const { figures, detail } = throughputCheck(1, 'portable', measured);
    assert.is(
      /a figure of requests \([\d,]+\/s\), not of bandwidth/.test(detail),
      measured.bytes / measured.requests < 2 ** 18,
    );
    assert.is(figures?.bytes_per_s, measured.bytes / measured.seconds);
    assert.is(measured.firstByteSeconds, latencyMs / 1000);
  }
});

test('throughput: several connections at once, in no more than so many; a failure ends it', async () => {
  const time = new VirtualTime();
  let failing = false;
  const engine = new FakeEngine({
    time,
    key: String,
    byteAt: () => 1,
    fate: ({ row }) => (failing && row === 1 ? { latencyNs: MS, fails: 'reset' } : { latencyNs: 10 * MS }),
  });
  const bounds = { connections: 4, bytes: 100_000, requests: 1000, durationNs: 1e9 };
  const whole = await time.run(
    measure(
      engine,
      Array.from({ length: 9 }, () => 5000),
      bounds,
      time,
      time,
    ),
  );
  assert.equal([whole.bytes, engine.peak, whole.requests, whole.seconds], [100_000, 4, 20, 0.05]);
  failing = true;
  const broken = await time.run(measure(engine, [5000, 5000, 5000], bounds, time, time));
  assert.match(broken.failure?.message ?? '', /made to fail: reset/);
  assert.is(throughputCheck(4, 'portable', broken).status, 'fail');
});

test.run();
