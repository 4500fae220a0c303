import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FAILURE_CLASSES, type FailureName } from '../../runtime-node/engine/failure.js';
import { OutageWatch } from '../../runtime-node/feed/outage.js';
import { MS, manifestOf, openFake, readAll, sizesTo } from './kit.js';

const STORE = 'http://127.0.0.1:9000';

/** `name@ms` is a failure at that time, `ok@ms` an answer, `wait@ms` a consumer that has waited since 0. */
function told(events: string): string[] {
  const lines: string[] = [];
  const log = {
    info: (_: object, text: string) => void lines.push(`info ${text}`),
    warn: (_: object, text: string) => void lines.push(`warn ${text}`),
  };
  const watch = new OutageWatch(STORE, log);
  for (const event of events.split(' ')) {
    const [name, ms] = event.split('@') as [string, string];
    if (name === 'ok') watch.answered(Number(ms) * MS);
    else if (name === 'wait') watch.waits(Number(ms) * MS, 0, 3);
    else watch.failed(FAILURE_CLASSES[name as FailureName], Number(ms) * MS);
  }
  return lines;
}

const table: [events: string, lines: string[]][] = [
  ['ok@0 reset@1 ok@2 reset@900 reset@901 ok@902', []],
  ['connect@0', []],
  ['connect@0 connect@1', [`warn no answer from ${STORE} (connect): trying again`]],
  [
    'ok@0 reset@10 connect@500 connect@1100 connect@1200 connect@30000 connect@31200 ok@40010 ok@40011',
    [
      `warn no answer from ${STORE} (connect): trying again`,
      `warn no answer from ${STORE} (connect) for 31.2 s: trying again`,
      `info ${STORE} answers again, after 40.0 s`,
    ],
  ],
  [
    'ok@0 throttled@900 throttled@1000 ok@1001',
    [
      `warn ${STORE} answers with failures only (throttled): trying again`,
      `info ${STORE} answers again, after 0.1 s`,
    ],
  ],
  [
    'ok@0 timeout_first_byte@9000 timeout_idle@9000',
    [`warn no answer from ${STORE} (timeout_idle): trying again`],
  ],
  ['wait@0 wait@4999 ok@5000 wait@9999', []],
  [
    'wait@5000 wait@34999 wait@35000 ok@36000',
    [
      `warn the next batch waits for ${STORE}, which has begun no answer for 5.0 s: 3 requests under way`,
      `warn the next batch waits for ${STORE}, which has begun no answer for 35.0 s: 3 requests under way`,
      `info ${STORE} answers again, after 36.0 s`,
    ],
  ],
  [
    'ok@1000 wait@6000 timeout_first_byte@15000 timeout_first_byte@15001 timeout_first_byte@36000 ok@37000',
    [
      `warn the next batch waits for ${STORE}, which has begun no answer for 5.0 s: 3 requests under way`,
      `warn no answer from ${STORE} (timeout_first_byte) for 21.0 s: trying again`,
      `info ${STORE} answers again, after 36.0 s`,
    ],
  ],
  // A trainer that paused longer than the store keeps connections; and answers that say no.
  ['ok@0 stale@9000 stale@9000 stale@9000', []],
  ['ok@0 not_found@9000 forbidden@9001 cancelled@9002 changed@9003', []],
  [
    'connect@0 connect@1 ok@5 reset@2000 reset@2001 ok@2002',
    [
      `warn no answer from ${STORE} (connect): trying again`,
      `info ${STORE} answers again, after 0.0 s`,
      `warn no answer from ${STORE} (reset): trying again`,
      `info ${STORE} answers again, after 0.0 s`,
    ],
  ],
];
for (const [events, lines] of table) {
  test(events, () => assert.equal(told(events), lines));
}

test('a feed tells of an outage and of its end', async () => {
  const lines: string[] = [];
  const take = (_: object, text: string): void => void lines.push(text);
  let failures = 0;
  const fake = await openFake(manifestOf(sizesTo(8)), {
    batchSamples: 2,
    logger: { debug() {}, info: take, warn: take },
    fate: () => (failures++ < 12 ? { latencyNs: MS, fails: 'connect' } : { latencyNs: MS }),
  });
  await readAll(fake);
  const about = lines.filter((text) => /answer/.test(text));
  assert.is(about.length, 2, lines.join('\n'));
  assert.match(about[0] ?? '', /no answer from the store \(connect\): trying again/);
  assert.match(about[1] ?? '', /the store answers again/);
});

test('a feed whose store keeps silent tells of it while it waits, and leaves no timer', async () => {
  const lines: string[] = [];
  const take = (_: object, text: string): void => void lines.push(text);
  const fake = await openFake(manifestOf(sizesTo(2)), {
    batchSamples: 2,
    logger: { debug() {}, info: take, warn: take },
    set: { 'hedge.share': 0 },
    fate: () => ({ latencyNs: 12_000 * MS }),
  });
  await readAll(fake);
  assert.equal(
    lines.filter((text) => /answer/.test(text)),
    [
      'the next batch waits for the store, which has begun no answer for 5.0 s: 2 requests under way',
      'the store answers again, after 12.0 s',
    ],
  );
  assert.is(fake.time.pending, 0);
});

test.run();
