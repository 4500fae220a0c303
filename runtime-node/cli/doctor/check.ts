/** One thing that was looked at: what works, what does not, why, and the mend. */
export interface Check {
  readonly name: string;
  /** `info`: worth knowing, and nothing to do about it. */
  readonly status: 'ok' | 'info' | 'warn' | 'fail';
  /** What was found; for `warn` and `fail` the reason. */
  readonly detail: string;
  /** What to do about it; null for `ok` and `info`. */
  readonly mend: string | null;
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
