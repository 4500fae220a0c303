// How fast the simulator runs: `node dist/bench/simulate-rate.js [--rounds 5] [--samples 1281167] [--json]`.
import { parseArgs } from 'node:util';
import { CorePool } from '../simulator/core-pool.js';
import { EventQueue } from '../simulator/engine/event-queue.js';
import { Stream } from '../simulator/random.js';
import type { PipelineResult } from '../simulator/result.js';
import { loadScenario } from '../simulator/scenario/load.js';
import { simulateNow } from '../simulator/simulate.js';
import { type MachineState, MachineWatch } from './measure/machine.js';
import { countOf } from './measure/options.js';
import { machineText, tableText } from './measure/report.js';
import { type Spread, spreadOf } from './measure/spread.js';

/** The aims of the simulator: core events for each second of wall time, one epoch, memory. */
const AIM_EVENTS_PER_S = 2e6;
const AIM_EPOCH_S = 10;
const AIM_RSS_MB = 200;
/** Events that wait at once in the loop without a model: about as many as in a run of one node. */
const HEAP_EVENTS = 512;

interface Figures {
  schema: 'os2g.bench-simulate-rate/1';
  samples: number;
  wallS: Spread;
  cpuS: Spread;
  coreEvents: number;
  simulatedEvents: number;
  coreEventsPerS: Spread;
  heapEventsPerS: Spread;
  rssMb: number;
  machine: MachineState;
}

/** The scenario format's own example, with the os2g pipeline. */
function example(samples: number) {
  return loadScenario({
    schema: 'os2g.scenario/1',
    name: 'imagenet-resnet18',
    profile: 'paper',
    dataset: { samples },
    store: { first_byte_ms: { kind: 'lognormal', median: 20, sigma: 0.5 }, connection_mb_per_s: 90 },
    pipelines: ['os2g'],
  });
}

/** A heap and nothing else: as many events as a run has, each of which leads to one more. */
function heapOnly(events: number): void {
  const queue = new EventQueue();
  const stream = new Stream(1, 'heap');
  for (let i = 0; i < HEAP_EVENTS; i++) queue.push(Math.floor(stream.next() * 1e6), i);
  for (let i = 0; i < events; i++) {
    const code = queue.next();
    queue.push(queue.nowNs + Math.floor(stream.next() * 1e6), code);
  }
}

async function measure(rounds: number, samples: number): Promise<Figures> {
  const scenario = example(samples);
  const cores = await CorePool.load('release');
  const watch = new MachineWatch();
  simulateNow(example(Math.min(samples, 50_000)), {}, cores);
  const results: PipelineResult[] = [];
  const cpuS: number[] = [];
  const heapPerS: number[] = [];
  for (let round = 0; round < rounds; round++) {
    watch.calibrate();
    const before = process.cpuUsage();
    const [result] = simulateNow(scenario, {}, cores).results;
    const { user, system } = process.cpuUsage(before);
    results.push(result!);
    cpuS.push((user + system) / 1e6);
    const start = performance.now();
    heapOnly(result!.simulated_events);
    heapPerS.push((result!.simulated_events / (performance.now() - start)) * 1e3);
  }
  const { core_events, simulated_events } = results[0]!;
  return {
    schema: 'os2g.bench-simulate-rate/1',
    samples,
    wallS: spreadOf(results.map((result) => result.wall_s)),
    cpuS: spreadOf(cpuS),
    coreEvents: core_events,
    simulatedEvents: simulated_events,
    coreEventsPerS: spreadOf(results.map((result) => result.core_events_per_s)),
    heapEventsPerS: spreadOf(heapPerS),
    rssMb: process.memoryUsage.rss() / 1e6,
    machine: watch.state(),
  };
}

function text(figures: Figures): string {
  const { wallS, cpuS, coreEventsPerS, heapEventsPerS, rssMb } = figures;
  const row = (name: string, { min, median, max }: Spread, scale: number, digits: number): string[] => [
    name,
    ...[min, median, max].map((value) => (value / scale).toFixed(digits)),
  ];
  const table = tableText([
    ['', 'min', 'median', 'max'],
    row('wall s', wallS, 1, 2),
    row('CPU s', cpuS, 1, 2),
    row('core events/s, million', coreEventsPerS, 1e6, 2),
    row('heap only, events/s, million', heapEventsPerS, 1e6, 2),
  ]);
  const ratio = coreEventsPerS.median / heapEventsPerS.median;
  const met = (is: boolean): string => (is ? 'met' : 'missed');
  return (
    `one epoch of ${figures.samples} samples with os2g, ${wallS.rounds} rounds: ${figures.coreEvents} core events, ` +
    `${figures.simulatedEvents} events of the simulation\n\n${table}\n` +
    `core events against events of a heap without a model: ${ratio.toFixed(2)}\n` +
    `aim ${AIM_EVENTS_PER_S / 1e6} million core events/s: ${met(coreEventsPerS.max >= AIM_EVENTS_PER_S)} by the best round; ` +
    `epoch under ${AIM_EPOCH_S} s: ${met(wallS.median < AIM_EPOCH_S)}; ` +
    `memory ${rssMb.toFixed(0)} MB, aim below ${AIM_RSS_MB}: ${met(rssMb < AIM_RSS_MB)}\n` +
    machineText(figures.machine)
  );
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    samples: { type: 'string', default: '1281167' },
    json: { type: 'boolean', default: false },
  },
});
const figures = await measure(countOf('rounds', values.rounds), countOf('samples', values.samples));
process.stdout.write(values.json ? `${JSON.stringify(figures)}\n` : text(figures));
