import { ConfigError } from '../../runtime-node/errors.js';
import { parseBytes, parseDurationNs, parseNumber } from '../../runtime-node/policy/units.js';
import { OBJECTIVES, type Objective } from './trial.js';

/** A limit on a figure: in its unit (seconds, requests, bytes), or as a multiple of the preset's. */
export interface Constraint {
  readonly of: Objective;
  readonly limit: number;
  readonly isRelative: boolean;
  /** As it was given. */
  readonly text: string;
}

/**
 * `epoch_time<=90s`, `requests<=100000`, `memory<=256MiB`, or against the preset: `epoch_time<=1.02x`.
 * @throws ConfigError `bad_option`
 */
export function parseConstraint(text: string, where = 'constraint'): Constraint {
  const match = /^\s*([a-z_]+)\s*<=\s*(\S+)\s*$/.exec(text);
  const of = OBJECTIVES.find((name) => name === match?.[1]);
  const value = match?.[2];
  if (!of || value === undefined) {
    throw new ConfigError(
      'bad_option',
      `${where}: ${JSON.stringify(text)} is not NAME<=VALUE with a NAME of ${OBJECTIVES.join(', ')}`,
      'write for example "epoch_time<=1.02x" (times the preset) or "memory<=256MiB"',
      { option: where },
    );
  }
  const isRelative = /^[\d.]+x$/.test(value);
  const limit = isRelative ? parseNumber(value.slice(0, -1), where) : absolute(of, value, where);
  if (limit > 0 && Number.isFinite(limit)) return { of, limit, isRelative, text: `${of}<=${value}` };
  throw new ConfigError(
    'bad_option',
    `${where}: ${JSON.stringify(text)} can never hold`,
    'give a limit above 0',
    {
      option: where,
    },
  );
}

function absolute(of: Objective, value: string, where: string): number {
  if (of === 'memory') return parseBytes(value, where);
  if (of === 'requests') return parseNumber(value, where);
  return parseDurationNs(value, where) / 1e9;
}
