import type { Scenario } from '../scenario/types.js';

/** What a number rests on: a measurement, a public source, or nothing but a reason. */
export type Basis = 'measured' | 'cited' | 'assumed';

/** One number of a profile with what it rests on. */
export class Parameter<T> {
  readonly value: T;
  readonly basis: Basis;
  readonly source: string;

  constructor(value: T, basis: Basis, source: string) {
    this.value = value;
    this.basis = basis;
    this.source = source;
  }
}

export function measured<T>(value: T, source: string): Parameter<T> {
  return new Parameter(value, 'measured', source);
}

export function cited<T>(value: T, source: string): Parameter<T> {
  return new Parameter(value, 'cited', source);
}

export function assumed<T>(value: T, source: string): Parameter<T> {
  return new Parameter(value, 'assumed', source);
}

/** Every leaf of a part of a scenario, with its basis. */
export type Documented<T> = {
  readonly [K in keyof T]: T[K] extends object ? Parameter<T[K]> | Documented<T[K]> : Parameter<T[K]>;
};

/** A machine, a store and the costs of the clients: what a scenario's missing parts are filled with. */
export interface Profile {
  readonly name: string;
  readonly summary: string;
  readonly parts: Documented<
    Pick<Scenario, 'store' | 'network' | 'host' | 'dpu' | 'pcie' | 'clients' | 'memory_budget_mib'>
  > & { readonly training: Documented<Pick<Scenario['training'], 'host_us_per_sample'>> };
}

/** The plain values of documented parts. */
export function valuesOf(parts: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [
      name,
      part instanceof Parameter ? part.value : valuesOf(part as object),
    ]),
  );
}

/** One value of a scenario and where it is from. */
export interface ParameterNote {
  /** `store.first_byte_ms` */
  path: string;
  value: unknown;
  /** `scenario`: the file says so. */
  basis: Basis | 'scenario';
  source: string;
}

/** All documented parameters, by path. */
export function notesOf(parts: object, prefix = ''): ParameterNote[] {
  return Object.entries(parts).flatMap(([name, part]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    if (!(part instanceof Parameter)) return notesOf(part as object, path);
    return [{ path, value: part.value as unknown, basis: part.basis, source: part.source }];
  });
}
