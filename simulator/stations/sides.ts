import { codeOf, KIND_COPIED_ON_DPU, KIND_COPIED_ON_HOST } from '../engine/codes.js';
import type { EventQueue } from '../engine/event-queue.js';
import type { Machine } from '../machine.js';
import { Cores } from './cores.js';
import { MemoryBus } from './memory-bus.js';

/** Cores and memory of both sides of every node. */
export class Sides {
  readonly hostCores: Cores[];
  readonly dpuCores: Cores[];
  readonly hostBus: MemoryBus[];
  readonly dpuBus: MemoryBus[];

  constructor(machine: Machine, queue: EventQueue) {
    const nodes = Array.from({ length: machine.nodes }, (_, node) => node);
    this.hostCores = nodes.map(() => new Cores(machine.hostCores));
    this.dpuCores = nodes.map(() => new Cores(machine.dpuCores));
    this.hostBus = nodes.map(
      (node) =>
        new MemoryBus(queue, this.hostCores[node]!, machine.hostCopyRate, codeOf(KIND_COPIED_ON_HOST, node)),
    );
    this.dpuBus = nodes.map(
      (node) =>
        new MemoryBus(queue, this.dpuCores[node]!, machine.dpuCopyRate, codeOf(KIND_COPIED_ON_DPU, node)),
    );
  }

  /** CPU spent up to now, all nodes, ns. */
  hostBusyAt(nowNs: number): number {
    return this.hostCores.reduce((sum, cores) => sum + cores.busyAt(nowNs), 0);
  }

  dpuBusyAt(nowNs: number): number {
    return this.dpuCores.reduce((sum, cores) => sum + cores.busyAt(nowNs), 0);
  }

  get hostCopiedBytes(): number {
    return this.hostBus.reduce((sum, bus) => sum + bus.copiedBytes, 0);
  }
}
