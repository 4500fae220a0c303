// Nanoseconds for one event of the policy core: marshal, step and read-back together. See bench/README.md.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  BATCHED_EVENTS,
  type RoundOrder,
  type RoundResult,
  VARIANTS,
  type Variant,
} from './core/variants.js';
import { type MachineState, MachineWatch } from './measure/machine.js';
import { countOf } from './measure/options.js';
import { machineText, tableText } from './measure/report.js';
import { type Spread, spreadOf } from './measure/spread.js';

/** A round takes well under a second. */
const ROUND_LIMIT_MS = 60_000;
const WINDOWS = [64, 1024, 16_384];
const AIM_NS: Partial<Record<Variant, number>> = { unbatched: 1000, batched: 250 };

interface WindowFigures {
  window: number;
  /** Nanoseconds for one event, or for one empty step or call. */
  ns: Record<Variant, Spread>;
  actionsPerEvent: number;
  inFlight: number;
}

interface CoreCost {
  schema: 'os2g.bench-core-cost/1';
  eventsPerRound: number;
  batchedEvents: number;
  windows: WindowFigures[];
  machine: MachineState;
}

/** A process with one core, which runs a round at a time. */
class WindowProcess {
  readonly results: RoundResult[] = [];
  private constructor(
    readonly window: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(window: number): Promise<WindowProcess> {
    const child = fork(fileURLToPath(new URL('./core/window-process.js', import.meta.url)), [String(window)]);
    const started = new WindowProcess(window, child);
    try {
      await started.#answer();
    } catch (error) {
      await started.stop();
      throw error;
    }
    return started;
  }

  async round(order: RoundOrder): Promise<void> {
    const answer = this.#answer();
    this.child.send(order);
    this.results.push((await answer) as RoundResult);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const over = once(this.child, 'exit');
    this.child.kill();
    await over;
  }

  async #answer(): Promise<unknown> {
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(ROUND_LIMIT_MS)]);
    const exited = once(this.child, 'exit', { signal }).then(() => {
      throw new Error(`the process for window ${this.window} ended before its round did`);
    });
    const message = once(this.child, 'message', { signal });
    try {
      const [value] = await Promise.race([message, exited]);
      return value;
    } finally {
      gone.abort();
      for (const promise of [message, exited]) promise.catch(() => {});
    }
  }
}

async function measure(windows: number[], rounds: number, events: number): Promise<CoreCost> {
  const watch = new MachineWatch();
  const processes: WindowProcess[] = [];
  try {
    for (const window of windows) processes.push(await WindowProcess.start(window));
    for (let round = 0; round < rounds; round++) {
      watch.calibrate();
      for (const variant of VARIANTS) {
        for (const process of processes) await process.round({ variant, events });
      }
    }
  } finally {
    for (const process of processes) await process.stop();
  }
  return {
    schema: 'os2g.bench-core-cost/1',
    eventsPerRound: events,
    batchedEvents: BATCHED_EVENTS,
    windows: processes.map(figuresOf),
    machine: watch.state(),
  };
}

function figuresOf({ window, results }: WindowProcess): WindowFigures {
  const of = (variant: Variant): RoundResult[] => results.filter((result) => result.variant === variant);
  const sum = (field: 'events' | 'actions'): number =>
    of('unbatched').reduce((total, result) => total + result[field], 0);
  const ns = Object.fromEntries(
    VARIANTS.map((variant) => [variant, spreadOf(of(variant).map((r) => r.ns / r.events))]),
  ) as Record<Variant, Spread>;
  const inFlight = spreadOf(of('unbatched').map((result) => result.inFlight)).median;
  return {
    window,
    ns,
    actionsPerEvent: sum('actions') / sum('events'),
    inFlight,
  };
}

function text(cost: CoreCost): string {
  const cell = ({ min, median }: Spread): string => `${min.toFixed(0)} / ${median.toFixed(0)}`;
  const head = ['window', 'in flight', 'actions/event', ...VARIANTS];
  const rows = cost.windows.map((figures) => [
    String(figures.window),
    String(figures.inFlight),
    figures.actionsPerEvent.toFixed(2),
    ...VARIANTS.map((variant) => cell(figures.ns[variant])),
  ]);
  const { rounds } = cost.windows[0]!.ns.unbatched;
  const met = Object.entries(AIM_NS).map(([variant, aim]) => {
    const medians = cost.windows.map((figures) => figures.ns[variant as Variant].median);
    const worst = Math.max(...medians);
    return `${variant}: aim ${aim} ns, worst median ${worst.toFixed(0)} ns: ${worst <= aim ? 'met' : 'missed'}`;
  });
  return (
    `ns for one event (empty-*: for one step or call), min / median of ${rounds} rounds of ${cost.eventsPerRound} events;\n` +
    `batched: ${cost.batchedEvents} events a step\n\n${tableText([head, ...rows])}\n${met.join('\n')}\n` +
    machineText(cost.machine)
  );
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    events: { type: 'string', default: '200000' },
    windows: { type: 'string', default: WINDOWS.join(',') },
    json: { type: 'boolean', default: false },
  },
});
const windows = values.windows.split(',').map((window) => countOf('windows', window));
const cost = await measure(windows, countOf('rounds', values.rounds), countOf('events', values.events));
process.stdout.write(values.json ? `${JSON.stringify(cost)}\n` : text(cost));
