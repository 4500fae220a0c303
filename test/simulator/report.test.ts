import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Histogram } from '../../simulator/report/histogram.js';
import { escapeHtml, html, scriptJson, scriptText, tableOf } from '../../simulator/report/html.js';
import { reportPage } from '../../simulator/report/page.js';
import { busyShares } from '../../simulator/report/recorder.js';
import { valueText } from '../../simulator/report/sections/assumptions.js';
import { BOUND_MEANING } from '../../simulator/report/sections/comparison.js';
import { aboveBound, stepsOf } from '../../simulator/report/steps.js';
import { PIPELINE_NAMES } from '../../simulator/scenario/types.js';
import { type Recorded, recorded, reproducibleText, SMALL, unobserved } from './report-kit.js';

let small: Recorded;
test.before(async () => {
  small = await recorded(SMALL);
});

test('who looks on changes nothing, not even the count of events', async () => {
  assert.is(reproducibleText(small.result), reproducibleText(await unobserved(SMALL)));
});

test('the same run, the same page, byte for byte', async () => {
  const again = await recorded(SMALL);
  assert.is(reportPage(again.result, again.records), reportPage(small.result, small.records));
});

test('what a recorder kept agrees with the result', () => {
  small.result.results.forEach((result, i) => {
    const { pipeline, series, whole, firstByte, failedRequests, endNs, steps } = small.records[i]!;
    assert.is(pipeline, result.pipeline);
    assert.is(whole.count, firstByte.count);
    const attempts = result.requests + result.head_requests;
    assert.is(
      whole.count + failedRequests <= attempts && whole.count > 5900,
      true,
      `${whole.count} of ${attempts}`,
    );
    assert.ok(Math.abs(endNs / 1e9 - result.epoch_s[0]!) < 1e-6);
    assert.ok(series.timeNs.length > 100 && series.timeNs.length <= 1024);
    const busy = busyShares(small.records[i]!);
    assert.ok(busy.every((share) => share >= 0 && share <= 1 + 1e-9));
    assert.is(steps.length, 60);
    const idleNs = steps.reduce((sum, { stallNs }) => sum + stallNs!.reduce((a, b) => a + b, 0), 0);
    assert.ok(
      Math.abs(idleNs / 1e9 - result.gpu_idle_s) < 1e-6,
      `${idleNs / 1e9} against ${result.gpu_idle_s}`,
    );
  });
});

test('a long run is kept in as many points as a short one', async () => {
  const { records } = await recorded(
    { ...SMALL, pipelines: ['s3fs'] },
    { expectedNs: 1e6, maxRequests: 5, maxSteps: 3 },
  );
  const { series, requests, steps } = records[0]!;
  assert.ok(series.timeNs.length > 500 && series.timeNs.length <= 1024);
  const gaps = new Set(series.timeNs.slice(2).map((ns, i) => ns - series.timeNs[i + 1]!));
  assert.is(gaps.size, 1, 'points stand at equal distances');
  assert.equal([requests.length, steps.length], [5, 3]);
});

test('quantiles of a histogram: to the width of a bin, never above the longest', () => {
  const histogram = new Histogram();
  for (let ns = 1; ns <= 100_000; ns++) histogram.add(ns);
  for (const share of [0.01, 0.5, 0.9, 0.99, 0.999]) {
    const got = histogram.quantileNs(share);
    assert.ok(got >= share * 100_000 && got <= share * 100_000 * 1.04 + 1, `${share}: ${got}`);
  }
  assert.is(histogram.quantileNs(1), 100_000);
  assert.is(histogram.tail().at(-1)!.shareAbove, 0);
  assert.is(new Histogram().quantileNs(0.5), 0);
});

test('the page holds every pipeline, parameter, cause of its basis, and hash', () => {
  const page = reportPage(small.result, small.records);
  for (const name of PIPELINE_NAMES) assert.ok(page.includes(`>${name}<`), name);
  for (const { path, source, basis } of small.result.parameters) {
    assert.ok(page.includes(`<code>${path}</code>`), path);
    assert.ok(page.includes(`b-${basis}`) && page.includes(escapeHtml(source)), path);
  }
  for (const { run_hash, bound } of small.result.results) {
    assert.ok(page.includes(run_hash));
    assert.ok(page.includes(BOUND_MEANING[bound.by]));
  }
  for (const axis of [
    'GPU busy (% of time)',
    'in flight (requests)',
    'window (MiB)',
    'memory (MiB)',
    'slower requests (%)',
  ]) {
    assert.ok(page.includes(axis), axis);
  }
});

test('the page is complete in itself, and the licence of the library stands in it', () => {
  const page = reportPage(small.result, small.records);
  assert.not.match(page, /(?:src|href)=["']?(?!data:)[a-z/.]/i);
  assert.not.match(page, /@import|url\(/);
  assert.match(page, /Content-Security-Policy" content="default-src 'none'/);
  assert.match(page, /The MIT License[\s\S]*WITHOUT WARRANTY OF ANY KIND/);
  assert.is((page.match(/<script/g) ?? []).length, 3, 'the name of the scenario opens no script');
  assert.is((page.match(/<\/script>/g) ?? []).length, 3);
  assert.ok(page.includes('a &lt;b&gt;&quot;small&quot;&lt;/b&gt; &amp; &lt;/script&gt;'));
});

test('a run of several nodes and epochs, and one that ended early, have their page', async () => {
  const nodes = await recorded({
    ...SMALL,
    nodes: 3,
    dataset: { samples: 2400 },
    training: { batch_samples_per_gpu: 100, gpus: 2, epochs: 2 },
    pipelines: ['s3fs', 'os2g'],
  });
  assert.match(reportPage(nodes.result, nodes.records), /6 GPUs in 3 nodes[\s\S]*requests, all nodes/);
  assert.ok(
    nodes.records.every(({ steps }) => steps.every(({ stallNs, node }) => stallNs === null && node < 2)),
  );
  const over = await recorded({
    ...SMALL,
    pipelines: ['os2g', 's3connector'],
    store: { error_share: 0.9 },
    policy: { set: { 'retry.attempts': 1 } },
  });
  assert.ok(over.result.results[0]!.failed);
  const text = reportPage(over.result, over.records);
  assert.match(
    text,
    /os2g ended before its last batch, after [^<]*: reading sample \d+ failed for good \(server\)/,
  );
  assert.not.match(text, /- s</, 'what has no figure has no unit');
  assert.is((text.match(/<i class="mark"/g) ?? []).length, 1, 'no bound of a run that failed');
  const drawn = JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/.exec(text)![1]!);
  assert.ok(
    drawn.charts.every(({ untilS }: { untilS?: number }) => untilS === undefined),
    'a run that failed at once does not cut the others off',
  );
});

test('runs that take far longer than most go out of the picture, and it says so', async () => {
  const slow = await recorded({
    ...SMALL,
    clients: { s3fs: { concurrency: 1, readahead_parts: 1 } },
    store: { first_byte_ms: { kind: 'constant', value: 100 } },
  });
  const text = reportPage(slow.result, slow.records);
  const { charts } = JSON.parse(
    /<script type="application\/json" id="data">(.*?)<\/script>/.exec(text)![1]!,
  ) as {
    charts: { id: string; untilS?: number; lines: { pipeline: string; x: number[] }[] }[];
  };
  const ends = slow.result.results.map(({ epoch_s }) => epoch_s[0]!).sort((a, b) => a - b);
  const busy = charts.find(({ id }) => id === 'busy')!;
  assert.ok(busy.untilS! < ends.at(-1)! && busy.untilS! > 3.5 * ends[2]!, `${busy.untilS} of ${ends}`);
  assert.match(text, /\(up to [\d.,]+ s: .*s3fs goes on to [\d.,]+ s/);
  const line = busy.lines.find(({ pipeline }) => pipeline === 's3connector')!;
  assert.ok(line.x.filter((s) => s <= busy.untilS!).length >= 40, 'it has points of its own in the picture');
  const wholeS = slow.result.results.find(({ pipeline }) => pipeline === 's3connector')!.epoch_s[0]!;
  assert.ok(Math.abs(line.x.at(-1)! / wholeS - 1) < 0.02, 'and the table has the whole run');
  assert.is(charts.find(({ id }) => id === 'latency')!.untilS, undefined);
});

test('the three steps: each from the result of two pipelines that came to their end', () => {
  const { results } = small.result;
  const steps = stepsOf(results);
  assert.equal(
    steps.map(({ step, from, to }) => [step, from, to]),
    [
      ['better client', 's3connector', 'os2g-host'],
      ['off the host', 'os2g-host', 'relay'],
      ['direct', 'relay', 'os2g'],
      ['all three', 's3connector', 'os2g'],
      ['against s3fs', 's3fs', 'os2g'],
    ],
  );
  const of = (name: string) => results.find(({ pipeline }) => pipeline === name)!;
  assert.is(steps[3]!.epoch_s_change, of('os2g').epoch_s[0]! / of('s3connector').epoch_s[0]! - 1);
  assert.is(steps[4]!.host_cpu_s_change, of('os2g').host_cpu_s / of('s3fs').host_cpu_s - 1);
  const product = steps.slice(0, 3).reduce((factor, { epoch_s_change }) => factor * (1 + epoch_s_change), 1);
  assert.ok(Math.abs(product - (1 + steps[3]!.epoch_s_change)) < 1e-9, 'the steps make the whole');
  assert.equal(
    stepsOf(results.filter(({ pipeline }) => pipeline !== 'os2g-host')).map(({ step }) => step),
    ['direct', 'all three', 'against s3fs'],
  );
  const failed = {
    ...of('relay'),
    failed: { reason: 'the store was gone', code: 1, class: 1, row: 0, at_s: 1 },
  };
  assert.equal(stepsOf([failed, of('os2g')]), []);
  assert.ok(aboveBound(of('os2g')) >= 0);
});

test('text of values and pages is escaped at the edge', () => {
  const cases: [unknown, string][] = [
    [null, 'none'],
    [true, 'true'],
    [5500, '5500'],
    [{ kind: 'constant', value: 3 }, '3'],
    [{ kind: 'lognormal', median: 1, sigma: 0.5 }, 'lognormal: median 1, sigma 0.5'],
    [
      {
        kind: 'quantiles',
        points: [
          [0, 1],
          [1, 2],
        ],
      },
      'quantiles: [[0,1],[1,2]]',
    ],
    [{ every_batches: 10, pause_s: 2 }, 'every_batches 10, pause_s 2'],
    [{ kind: 'epoch' }, 'epoch'],
  ];
  for (const [value, text] of cases) assert.is(valueText(value), text);
  assert.is(html`<p title="${'"'}">${'<i>'}${html`<b>`}${3}</p>`.text, '<p title="&quot;">&lt;i&gt;<b>3</p>');
  assert.is(scriptJson({ a: '</script>' }).text, '{"a":"\\u003c/script>"}');
  assert.is(scriptText('"</script>"').text, '"<\\/script>"');
  assert.match(
    tableOf('c', [
      ['<', 'b'],
      ['r', '&'],
    ]).text,
    /<th scope="col">&lt;<\/th>[\s\S]*<td>&amp;<\/td>/,
  );
});

test.run();
