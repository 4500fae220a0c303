import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type TraceEvent, timelineEvents, timelineText } from '../../simulator/timeline/timeline.js';
import { type Recorded, recorded, SMALL } from './report-kit.js';

const PHASES = ['M', 'X', 'C', 'b', 'e'];
const METADATA = ['process_name', 'process_sort_index', 'thread_name'];

/** What the description of the trace event format asks of an event; a sentence where it is not so. */
function faultOf(event: TraceEvent): string | null {
  const { ph, name, pid, tid, ts, dur, cat, id, args } = event;
  if (!PHASES.includes(ph)) return `phase ${ph}`;
  if (typeof name !== 'string' || name === '') return 'no name';
  if (!Number.isInteger(pid) || !Number.isInteger(tid)) return 'pid and tid must be whole numbers';
  if (!Number.isFinite(ts) || ts < 0) return `ts ${ts}`;
  if (ph === 'X' && !(Number.isFinite(dur) && dur! >= 0)) return `dur ${dur}`;
  if (ph !== 'X' && dur !== undefined) return 'only spans have a duration';
  if ((ph === 'b' || ph === 'e') && (!cat || !id)) return 'an asynchronous span needs cat and id';
  if (ph === 'M' && !METADATA.includes(name)) return `metadata ${name}`;
  if (ph === 'M' && !(args && ('name' in args || 'sort_index' in args))) return 'metadata without its value';
  if (ph === 'C' && !(args && Object.values(args).every((value) => Number.isFinite(value))))
    return 'a counter needs numbers';
  return null;
}

let small: Recorded;
let events: TraceEvent[];
test.before(async () => {
  small = await recorded(SMALL);
  events = timelineEvents(small.records);
});

test('the file is JSON of the format: an object with traceEvents', () => {
  const document = JSON.parse(timelineText('x', small.records));
  assert.equal(Object.keys(document), ['displayTimeUnit', 'otherData', 'traceEvents']);
  assert.ok(['ms', 'ns'].includes(document.displayTimeUnit));
  assert.equal(document.traceEvents, JSON.parse(JSON.stringify(events)));
  for (const event of document.traceEvents) assert.is(faultOf(event), null, JSON.stringify(event));
});

test('each pipeline is a process with its name, spans of a track follow each other', () => {
  const names = events.filter(({ name }) => name === 'process_name').map(({ args }) => args!.name);
  assert.equal(
    names,
    small.records.map(({ pipeline }) => pipeline),
  );
  for (const { pid } of events.filter(({ name }) => name === 'process_name')) {
    const spans = events.filter((event) => event.ph === 'X' && event.pid === pid);
    spans.forEach(({ ts }, i) => {
      if (i > 0) assert.ok(ts >= spans[i - 1]!.ts + spans[i - 1]!.dur! - 1e-6, `span ${i} of ${pid}`);
    });
  }
});

test('compute and waits add up to the run, the waits to the stalls of the result', () => {
  small.result.results.forEach((result, i) => {
    const spans = events.filter(({ ph, pid }) => ph === 'X' && pid === i + 1);
    const sum = (prefix: string): number =>
      spans.filter(({ name }) => name.startsWith(prefix)).reduce((total, { dur }) => total + dur!, 0) / 1e6;
    assert.ok(Math.abs(sum('compute') + sum('wait') - result.epoch_s[0]!) < 1e-4, result.pipeline);
    for (const [cause, seconds] of Object.entries(result.stall_s)) {
      assert.ok(Math.abs(sum(`wait: ${cause}`) - seconds) < 1e-4, `${result.pipeline}: ${cause}`);
    }
  });
});

test('requests: every span that begins ends, parts lie inside, and there are no more than asked for', () => {
  const open = new Map<string, string[]>();
  let requests = 0;
  for (const { ph, name, id } of events) {
    if (ph !== 'b' && ph !== 'e') continue;
    const stack = open.get(id!) ?? [];
    if (ph === 'b') {
      stack.push(name);
      if (name === 'request') requests++;
    } else {
      assert.is(stack.pop(), name, id);
    }
    open.set(id!, stack);
  }
  assert.ok([...open.values()].every((stack) => stack.length === 0));
  assert.is(requests, 200 * small.records.length);
});

test('counters: requests in flight for every client, a window for those that have one', () => {
  const named = (name: string) =>
    new Set(events.filter((e) => e.ph === 'C' && e.name === name).map(({ pid }) => pid));
  assert.is(named('requests in flight').size, 6);
  assert.is(named('memory').size, 6);
  assert.is(named('window').size, 3);
});

test('several nodes: a process for each that was kept, counters of all together', async () => {
  const { records } = await recorded({ ...SMALL, nodes: 3, pipelines: ['os2g'] });
  const several = timelineEvents(records);
  const names = several.filter(({ name }) => name === 'process_name').map(({ args }) => args!.name);
  assert.equal(names, ['os2g, node 0', 'os2g, node 1']);
  assert.ok(several.some(({ name }) => name === 'window (all nodes)'));
  for (const event of several) assert.is(faultOf(event), null);
});

test.run();
