import type * as layout from '../assembly/layout.js';
import type { Core } from '../runtime-node/core.js';
import type { ConfigError } from '../runtime-node/errors.js';
import type { Policy } from '../runtime-node/policy/resolve.js';
import { DataSet } from './dataset.js';
import * as codes from './engine/codes.js';
import { EventQueue } from './engine/event-queue.js';
import { Slots } from './engine/slots.js';
import { EpochWork, type Reach } from './epoch-work.js';
import { nodeConfig } from './job.js';
import { type Machine, machineOf, pipelineOf } from './machine.js';
import type { NodeSample, Observer, RequestObserver } from './observer.js';
import type { Client, ClientTotals, RunFailure } from './pipelines/client.js';
import { CoreClient } from './pipelines/core-client.js';
import { LoaderClient } from './pipelines/loader-client.js';
import { batchesAhead, loaderOf } from './pipelines/loaders.js';
import { ReadingPlan } from './reading-plan.js';
import type { RequestOwner } from './request-owner.js';
import { badScenario, LONGEST_RUN_S } from './scenario/check.js';
import type { PipelineName, Scenario } from './scenario/types.js';
import { Sides } from './stations/sides.js';
import { Trainer } from './trainer.js';
import { Transport } from './transport.js';
import { Way } from './way.js';

const LONGEST_NS = LONGEST_RUN_S * 1e9;

/** Told of each core before its first step: where a trace is begun. */
export type CoreHook = (node: number, core: Core, config: Float64Array) => void;

export interface RunOptions {
  scenario: Scenario;
  pipeline: PipelineName;
  policy: Policy;
  /** One a node for pipelines with the core; one, for the order, for the others. */
  cores: readonly Core[];
  /** Of the scenario, for messages. */
  file?: string;
  observer?: Observer | null;
  onCore?: CoreHook;
}

/** How a run ended, in base units. */
export interface RunOutcome {
  machine: Machine;
  plan: ReadingPlan;
  trainer: Trainer;
  work: EpochWork;
  sides: Sides;
  totals: ClientTotals;
  failure: RunFailure | null;
  endNs: number;
  /** Events of the simulation itself. */
  events: number;
}

/**
 * Runs one pipeline of a scenario to its end in virtual time.
 * @throws ConfigError `bad_scenario` where the end is further away than virtual time goes
 */
export function runPipeline(options: RunOptions): RunOutcome {
  const run = new Run(options);
  run.start();
  run.toEnd(options.file);
  return run.outcome();
}

class Run {
  readonly #machine: Machine;
  readonly #queue = new EventQueue();
  readonly #plan: ReadingPlan;
  readonly #sides: Sides;
  readonly #transport: Transport;
  readonly #way: Way;
  readonly #trainer: Trainer;
  readonly #work: EpochWork;
  readonly #client: Client;
  readonly #observer: Observer | null;
  /** Events that were only there for the observer. */
  #looks = 0;
  #samples = false;
  readonly #sample: NodeSample = {
    busyNs: 0,
    windowBytes: 0,
    inFlight: 0,
    memoryBytes: 0,
    concurrencyLimit: 0,
  };

  constructor(options: RunOptions) {
    const { scenario } = options;
    const observer = options.observer ?? null;
    this.#observer = observer;
    const machine = machineOf(scenario, pipelineOf(options.pipeline, scenario));
    this.#machine = machine;
    const queue = this.#queue;
    const slots = new Slots();
    const dataSet = new DataSet(scenario);
    const usesCore = machine.pipeline.client === 'core';
    startCores(options, usesCore);
    this.#plan = new ReadingPlan(
      scenario,
      scenario.training.access.kind === 'epoch' ? options.cores[0]! : null,
    );
    this.#sides = new Sides(machine, queue);
    const cores = machine.pipeline.side === 'dpu' ? this.#sides.dpuCores : this.#sides.hostCores;
    const client = usesCore
      ? new CoreClient(machine, queue, slots, options.cores, dataSet, this.#plan, cores)
      : new LoaderClient(machine, queue, slots, dataSet, this.#plan, this.#sides);
    this.#client = client;
    const requestObserver = observer?.request ? (observer as RequestObserver) : null;
    const timeoutNs = timeoutOf(options, machine);
    const owner: RequestOwner = client;
    this.#transport = new Transport(machine, queue, slots, cores, timeoutNs, owner, requestObserver);
    this.#way = new Way(machine, queue, slots, this.#sides, (slot) => client.landed(slot));
    this.#work = new EpochWork(this.#plan, machine.nodes, machine.gpus, reachOf(machine));
    this.#trainer = new Trainer(
      machine,
      this.#plan,
      queue,
      this.#sides.hostCores,
      client,
      this.#work,
      observer,
    );
    client.connect(this.#trainer, this.#transport, this.#way);
  }

  start(): void {
    const { sampleEveryNs } = this.#observer ?? {};
    const { pipeline, nodes, gpus } = this.#machine;
    this.#observer?.begin?.(pipeline.name, nodes, gpus, () => this.#stalledNs());
    this.#samples = Boolean(sampleEveryNs && this.#observer?.sample);
    if (this.#samples) this.#queue.push(0, codes.codeOf(codes.KIND_SAMPLE, 0));
    this.#client.start();
    this.#trainer.start();
    this.#client.settle();
  }

  toEnd(file: string | undefined): void {
    const queue = this.#queue;
    while (!this.#trainer.isOver && this.#client.failure === null) {
      const code = queue.next();
      if (code < 0) throw new Error(`no progress at ${queue.nowNs} ns: nothing is due`);
      if (queue.nowNs > LONGEST_NS) throw tooLong(this.#machine, file);
      this.#dispatch(code);
      while (queue.nextNs === queue.nowNs) this.#dispatch(queue.next());
      this.#client.settle();
    }
    if (this.#client.failure !== null) {
      this.#client.stop();
      this.#trainer.stop();
    }
    this.#observer?.end?.(queue.nowNs);
  }

  #dispatch(code: number): void {
    const argument = code & codes.ARGUMENT_MASK;
    const kind = codes.kindOf(code);
    switch (kind) {
      case codes.KIND_SEND:
      case codes.KIND_OPENED:
      case codes.KIND_FIRST_BYTE:
      case codes.KIND_FAILED:
      case codes.KIND_TIMEOUT:
      case codes.KIND_BODIES:
      case codes.KIND_RECEIVED:
      case codes.KIND_TOKENS:
      case codes.KIND_FAULT:
        return this.#transport.happened(kind, argument);
      case codes.KIND_COPIED_ON_HOST:
        return this.#dispatch(this.#sides.hostBus[argument]!.finish());
      case codes.KIND_COPIED_ON_DPU:
        return this.#dispatch(this.#sides.dpuBus[argument]!.finish());
      case codes.KIND_AT_HOST:
      case codes.KIND_RELAYED:
      case codes.KIND_HOST_COPY_DONE:
      case codes.KIND_LANDED:
        return this.#way.happened(kind, argument);
      case codes.KIND_STEP_END:
      case codes.KIND_HOST_WORK:
      case codes.KIND_RESUME:
        return this.#trainer.happened(kind, argument);
      case codes.KIND_SAMPLE:
        return this.#look();
      default:
        return this.#client.happened(kind, argument);
    }
  }

  /** Waits that are charged so far, by STALL_*; of all GPUs of all nodes. */
  #stalledNs(): Float64Array {
    const client = this.#client.totals().stallNs;
    return this.#trainer.stallNs.map((ns, cause) => ns + client[cause]!);
  }

  #look(): void {
    const observer = this.#observer!;
    this.#looks++;
    for (let node = 0; node < this.#machine.nodes; node++) {
      this.#sample.busyNs = this.#trainer.busyAt(node);
      this.#client.look(node, this.#sample);
      observer.sample!(this.#queue.nowNs, node, this.#sample);
    }
    // Where nothing else is due the run is stuck, and looking on must not hide that.
    if (this.#queue.length === 0) return;
    this.#queue.push(this.#queue.nowNs + observer.sampleEveryNs!, codes.codeOf(codes.KIND_SAMPLE, 0));
  }

  outcome(): RunOutcome {
    return {
      machine: this.#machine,
      plan: this.#plan,
      trainer: this.#trainer,
      work: this.#work,
      sides: this.#sides,
      totals: this.#client.totals(),
      failure: this.#client.failure,
      endNs: this.#queue.nowNs,
      events: this.#queue.pushed - (this.#samples ? this.#looks + 1 : 0),
    };
  }
}

function startCores(options: RunOptions, usesCore: boolean): void {
  const { scenario, policy, cores } = options;
  cores.forEach((core, node) => {
    const config = nodeConfig(scenario, policy, node);
    core.onStep = null;
    core.init(config);
    if (usesCore) options.onCore?.(node, core, config);
  });
}

function tooLong({ pipeline }: Machine, file: string | undefined): ConfigError {
  return badScenario(
    file,
    'pipelines',
    `${pipeline.name} has not come to its end after ${LONGEST_RUN_S} s of virtual time`,
    'leave it out, shorten the data set, or look for a rate that is far too low or a store that never answers',
  );
}

/** What a client can have fetched of an epoch before it begins. */
function reachOf(machine: Machine): Reach {
  const { pipeline, scenario, memoryBytes, gpus } = machine;
  const { access } = scenario.training;
  const known = access.kind === 'zipf' ? access.lookahead_batches + 1 : Number.POSITIVE_INFINITY;
  if (pipeline.client === 'core') return { batches: known, bytes: memoryBytes / gpus };
  const { workers } = loaderOf(pipeline.client, scenario);
  return { batches: batchesAhead(workers, known), bytes: Number.POSITIVE_INFINITY };
}

/** The client's limit from the request to the first byte, ns. */
function timeoutOf({ scenario, policy }: RunOptions, { pipeline }: Machine): number {
  if (pipeline.client === 'core') return policy.values.get('limits.first_byte')!;
  return Math.round(scenario.clients[pipeline.client].timeout_s * 1e9);
}

/** Causes of stalls by their number in the core, as results name them. */
export const STALL_NAMES = [
  'start',
  'store',
  'throttle',
  'network',
  'client_cpu',
  'host_work',
  'memory',
  'transfer',
  'barrier',
] as const satisfies { length: typeof layout.STALL_CAUSES };
