import type { EventQueue } from './engine/event-queue.js';
import type { Fault } from './scenario/types.js';

/** What the faults of a scenario do now. Several at once: factors multiply, the largest share of errors holds. */
export interface Conditions {
  /** On the store's rates and its cap on requests. */
  rateFactor: number;
  latencyFactor: number;
  /** Share of requests that are answered by an error; null: the scenario's own. */
  errorShare: number | null;
  isOut: boolean;
}

/** The times at which faults begin and end, as events. */
export class Faults {
  readonly #faults: readonly Fault[];

  constructor(faults: readonly Fault[]) {
    this.#faults = faults;
  }

  /** Pushes `code` at every change. */
  schedule(queue: EventQueue, code: number): void {
    const times = new Set<number>();
    for (const fault of this.#faults) {
      times.add(startNs(fault));
      times.add(endNs(fault));
    }
    for (const atNs of [...times].sort((a, b) => a - b)) queue.push(atNs, code);
  }

  at(nowNs: number): Conditions {
    const conditions: Conditions = { rateFactor: 1, latencyFactor: 1, errorShare: null, isOut: false };
    for (const fault of this.#faults) {
      if (nowNs < startNs(fault) || nowNs >= endNs(fault)) continue;
      const factor = fault.factor ?? 1;
      if (fault.kind === 'throttle') conditions.rateFactor *= factor;
      else if (fault.kind === 'latency') conditions.latencyFactor *= factor;
      else if (fault.kind === 'error') conditions.errorShare = Math.max(conditions.errorShare ?? 0, factor);
      else conditions.isOut = true;
    }
    return conditions;
  }
}

function startNs(fault: Fault): number {
  return Math.round(fault.at_s * 1e9);
}

function endNs(fault: Fault): number {
  return Math.round((fault.at_s + fault.for_s) * 1e9);
}
