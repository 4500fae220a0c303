/** One thing that was looked at: what works, what does not, why, and the mend. */
export interface Check {
  readonly name: string;
  /** `info`: worth knowing, and nothing to do about it. `skip`: not looked at, since an earlier one failed. */
  readonly status: 'ok' | 'info' | 'warn' | 'fail' | 'skip';
  /** What was found; for `warn` and `fail` the reason; for `skip` what failed before. */
  readonly detail: string;
  /** What to do about it; null for `ok`, `info` and `skip`. */
  readonly mend: string | null;
  /** What was measured, where something was; names carry units. */
  readonly figures?: Readonly<Record<string, number>>;
}

export function ok(name: string, detail: string): Check {
  return { name, status: 'ok', detail, mend: null };
}

export function info(name: string, detail: string): Check {
  return { name, status: 'info', detail, mend: null };
}

export function warn(name: string, detail: string, mend: string): Check {
  return { name, status: 'warn', detail, mend };
}

export function fail(name: string, detail: string, mend: string): Check {
  return { name, status: 'fail', detail, mend };
}

/** @param failed name of the check that must be well before this one can be tried */
export function skip(name: string, failed: string): Check {
  return { name, status: 'skip', detail: `not tried: ${failed} failed`, mend: null };
}
