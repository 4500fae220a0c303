import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FAILURE_CLASSES, type FailureName } from '../../runtime-node/engine/failure.js';
import { OutageWatch } from '../../runtime-node/feed/outage.js';
import { MS, manifestOf, openFake, readAll, sizesTo } from './kit.js';

const STORE = 'http://127.0.0.1:9000';

/** `name@ms` is a failure at that time, `ok@ms` an answer. */
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

test.run();
