import * as layout from '../../assembly/layout.js';

/** Classes of failure by the name that errors carry as their code. The numbers are the core's. */
export const FAILURE_CLASSES = {
  throttled: layout.CLASS_THROTTLED,
  server: layout.CLASS_SERVER,
  reset: layout.CLASS_RESET,
  stale: layout.CLASS_STALE,
  connect: layout.CLASS_CONNECT,
  timeout_connect: layout.CLASS_TIMEOUT_CONNECT,
  timeout_first_byte: layout.CLASS_TIMEOUT_FIRST_BYTE,
  timeout_idle: layout.CLASS_TIMEOUT_IDLE,
  timeout_total: layout.CLASS_TIMEOUT_TOTAL,
  short: layout.CLASS_SHORT,
  long: layout.CLASS_LONG,
  range: layout.CLASS_RANGE,
  checksum: layout.CLASS_CHECKSUM,
  expired: layout.CLASS_EXPIRED,
  cancelled: layout.CLASS_CANCELLED,
  not_found: layout.CLASS_NOT_FOUND,
  forbidden: layout.CLASS_FORBIDDEN,
  changed: layout.CLASS_CHANGED,
  moved: layout.CLASS_MOVED,
  archived: layout.CLASS_ARCHIVED,
  refused: layout.CLASS_REFUSED,
  tls: layout.CLASS_TLS,
  protocol: layout.CLASS_PROTOCOL,
  transfer: layout.CLASS_TRANSFER,
  internal: layout.CLASS_INTERNAL,
} as const;

export type FailureName = keyof typeof FAILURE_CLASSES;
export type FailureClass = (typeof FAILURE_CLASSES)[FailureName];

const NAMES = new Map<number, FailureName>(
  Object.entries(FAILURE_CLASSES).map(([name, value]) => [value, name as FailureName]),
);

export function failureName(failureClass: number): FailureName {
  return NAMES.get(failureClass) ?? 'internal';
}
