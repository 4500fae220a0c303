import { codeOf, KIND_AT_HOST, KIND_HOST_COPY_DONE, KIND_LANDED, KIND_RELAYED } from './engine/codes.js';
import type { EventQueue } from './engine/event-queue.js';
import type { Slots } from './engine/slots.js';
import type { Machine } from './machine.js';
import { Links } from './stations/links.js';
import type { Sides } from './stations/sides.js';

/** From the client's memory to where the GPU, or the loader in front of it, has the bytes. */
export class Way {
  readonly #machine: Machine;
  readonly #queue: EventQueue;
  readonly #slots: Slots;
  readonly #sides: Sides;
  readonly #dpuToHost: Links;
  readonly #hostToGpu: Links;
  readonly #dpuToGpu: Links;
  readonly #arrived: (slot: number) => void;

  /** @param arrived told of each slot that reached the end of its way; the slot is the owner's again */
  constructor(
    machine: Machine,
    queue: EventQueue,
    slots: Slots,
    sides: Sides,
    arrived: (slot: number) => void,
  ) {
    this.#machine = machine;
    this.#queue = queue;
    this.#slots = slots;
    this.#sides = sides;
    this.#arrived = arrived;
    const gpus = machine.nodes * machine.gpus;
    this.#dpuToHost = new Links(machine.nodes, machine.dpuToHostRate);
    this.#hostToGpu = new Links(gpus, machine.hostToGpuRate);
    this.#dpuToGpu = new Links(gpus, machine.dpuToGpuRate);
  }

  /** From host memory to the slot's GPU. */
  hostToGpu(slot: number): void {
    const { nowNs } = this.#queue;
    const endNs = this.#hostToGpu.transfer(nowNs, this.#gpuOf(slot), this.#slots.bytes[slot]!);
    this.#push(endNs, KIND_LANDED, slot);
  }

  /** From DPU memory to the slot's GPU: the host is not touched. */
  dpuToGpu(slot: number): void {
    const { nowNs } = this.#queue;
    const endNs = this.#dpuToGpu.transfer(nowNs, this.#gpuOf(slot), this.#slots.bytes[slot]!);
    this.#push(endNs, KIND_LANDED, slot);
  }

  /** A copy in host memory, and on to the GPU. */
  copyToGpu(slot: number): void {
    this.#slots.name(slot);
    this.#sides.hostBus[this.#slots.node[slot]!]!.copy(
      this.#slots.bytes[slot]!,
      codeOf(KIND_HOST_COPY_DONE, slot),
    );
  }

  /** From DPU memory through the host, which relays and copies; where it ends is up to `afterHostCopy`. */
  relay(slot: number): void {
    const { nowNs } = this.#queue;
    const endNs = this.#dpuToHost.transfer(nowNs, this.#slots.node[slot]!, this.#slots.bytes[slot]!);
    this.#push(endNs, KIND_AT_HOST, slot);
  }

  /** Where a slot goes after the copy on the host: on to its GPU, or back to its owner. */
  afterHostCopy: (slot: number) => void = (slot) => this.hostToGpu(slot);

  happened(kind: number, slot: number): void {
    if (!this.#slots.unname(slot)) return;
    switch (kind) {
      case KIND_AT_HOST:
        return this.#atHost(slot);
      case KIND_RELAYED:
        return this.copyToGpu(slot);
      case KIND_HOST_COPY_DONE:
        return this.afterHostCopy(slot);
      default:
        return this.#arrived(slot);
    }
  }

  #atHost(slot: number): void {
    const { requestNs, nsPerByte } = this.#machine.relay;
    const cpuNs = requestNs + Math.round(this.#slots.bytes[slot]! * nsPerByte);
    if (cpuNs === 0) return this.copyToGpu(slot);
    const cores = this.#sides.hostCores[this.#slots.node[slot]!]!;
    this.#slots.name(slot);
    this.#queue.push(cores.submit(this.#queue.nowNs, cpuNs), codeOf(KIND_RELAYED, slot));
  }

  #gpuOf(slot: number): number {
    return this.#slots.node[slot]! * this.#machine.gpus + this.#slots.gpu[slot]!;
  }

  #push(atNs: number, kind: number, slot: number): void {
    this.#slots.name(slot);
    this.#queue.pushOrdered(atNs, codeOf(kind, slot));
  }
}
