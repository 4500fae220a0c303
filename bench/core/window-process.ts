// One core at one window, in a process of its own as in a feed: `node window-process.js WINDOW`. Runs the rounds that its
// parent sends and answers each with a RoundResult.
import { devNull } from 'node:os';
import { Core } from '../../runtime-node/core.js';
import { TraceFile } from '../../runtime-node/feed/trace.js';
import { jobConfig } from '../../runtime-node/policy/job.js';
import { resolvePolicy } from '../../runtime-node/policy/resolve.js';
import { CoreDriver, SAMPLE_BYTES } from './driver.js';
import { BATCHED_EVENTS, type RoundOrder, type RoundResult } from './variants.js';

/** Events before the first round: the window fills, and both compilers have done their work. */
const WARM_UP_EVENTS = 300_000;

const window = Number(process.argv[2]);
const core = await Core.load('release');
const config = configOf(window);
core.init(config);
const trace = new TraceFile(devNull, core, config);
const traceHook = core.onStep;
const driver = new CoreDriver(core, window);
driver.run(WARM_UP_EVENTS, 1);
core.onStep = null;
driver.run(WARM_UP_EVENTS, BATCHED_EVENTS);
driver.run(WARM_UP_EVENTS, 1);

process.on('message', (order: RoundOrder) => process.send?.(round(order)));
process.on('disconnect', () => trace.close());
process.send?.('ready');

/** The `os2g` policy as it stands, held at one window: as many requests in flight, twice as many samples open. */
function configOf(requests: number): Float64Array {
  const windowBytes = `${2 * requests * 128 * 1024}B`;
  const policy = resolvePolicy({
    preset: 'os2g',
    set: {
      // Fixed, since the answers of this world come at once: adaptive concurrency would find that a few places are enough.
      'concurrency.mode': 'fixed',
      'concurrency.max': requests,
      'window.samples': 2 * requests,
      'window.bytes': windowBytes,
      'window.initial_bytes': windowBytes,
    },
  });
  return jobConfig(
    {
      samples: 1e9,
      batchSamples: Math.min(256, requests >> 2),
      shuffle: 'sample',
      memoryBytes: 4 * requests * SAMPLE_BYTES,
      epochs: 1000,
      seed: 7,
    },
    policy,
  );
}

function round({ variant, events }: RoundOrder): RoundResult {
  core.onStep = variant.endsWith('-traced') ? traceHook : null;
  const before = { events: driver.events, actions: driver.actions, steps: driver.steps };
  const start = process.hrtime.bigint();
  if (variant === 'empty-call') emptyCalls(events);
  else if (variant === 'empty-step') driver.runEmpty(events);
  else driver.run(events, variant.startsWith('batched') ? BATCHED_EVENTS : 1);
  const ns = Number(process.hrtime.bigint() - start);
  core.onStep = null;
  return {
    variant,
    ns,
    events: variant.startsWith('empty') ? events : driver.events - before.events,
    actions: driver.actions - before.actions,
    steps: driver.steps - before.steps,
    inFlight: driver.inFlight,
  };
}

/** The cheapest export there is: one load, returned as an f64. */
function emptyCalls(calls: number): void {
  let sum = 0;
  for (let i = 0; i < calls; i++) sum += core.landingBytes;
  if (sum <= 0) throw new Error('landing memory has no bytes');
}
