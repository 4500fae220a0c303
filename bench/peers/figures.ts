import type { MachineState } from '../measure/machine.js';
import { type Spread, spreadOf } from '../measure/spread.js';
import type { Round, Verified } from './client.js';
import type { ClientName } from './roster.js';

/** One client with one number of requests in flight, measured or not. */
export interface Row {
  name: ClientName;
  inFlight: number;
  /** How it reads, where several ways were tried. */
  variant: string | null;
  tried: Record<string, number>;
  rounds: Round[];
  verified: Verified | null;
  /** Why there is nothing; null: there is. */
  missing: string | null;
}

export interface PeerFigures {
  name: ClientName;
  inFlight: number;
  variant: string | null;
  /** CPU microseconds a GET of each variant in its trial. */
  tried: Record<string, number>;
  missing: string | null;
  getsPerRound: number;
  verified: Verified | null;
  /** CPU time of the process, user and system, for one GET; null where nothing was measured, as below. */
  cpuUs: Spread | null;
  systemUs: Spread | null;
  perSecond: Spread | null;
  /** Bytes of bodies for each second of CPU time, in GB: what one core would carry. */
  gbPerCpuSecond: Spread | null;
  /** GETs for each wake-up; null where none is counted. */
  getsPerWake: Spread | null;
  /** Of all rounds, and the GETs of all rounds; null where none are sent. */
  hedges: { sent: number; gets: number } | null;
}

export interface Peers {
  schema: 'os2g.bench-peers/1';
  objectBytes: number;
  objects: number;
  tls: boolean;
  inFlight: number;
  store: string;
  versions: Record<string, string>;
  clients: PeerFigures[];
  comparisons: Comparison[];
  machine: MachineState;
}

/** One figure against another, round by round. */
export interface Comparison {
  what: string;
  unit: 'times' | 'us';
  spread: Spread;
  /** The same of the two minima. */
  ofMinima: number;
  /** null: there is none. */
  aim: number | null;
  met: boolean | null;
}

export function figuresOf(row: Row): PeerFigures {
  const { name, inFlight, variant, tried, missing, rounds, verified } = row;
  const spread = (of: (round: Round) => number): Spread | null =>
    rounds.length > 0 ? spreadOf(rounds.map(of)) : null;
  const sum = (of: (round: Round) => number): number => rounds.reduce((all, round) => all + of(round), 0);
  const hedging = rounds.some((round) => round.hedges !== undefined);
  const counted = rounds.every((round) => round.wakes !== undefined);
  return {
    ...{ name, inFlight, variant, tried, missing, verified },
    getsPerRound: rounds[0]?.gets ?? 0,
    cpuUs: spread((round) => round.cpuUs / round.gets),
    systemUs: spread((round) => round.systemUs / round.gets),
    perSecond: spread((round) => (round.gets / round.wallUs) * 1e6),
    gbPerCpuSecond: spread((round) => round.bytes / round.cpuUs / 1e3),
    hedges: hedging ? { sent: sum(({ hedges = 0 }) => hedges), gets: sum(({ gets }) => gets) } : null,
    getsPerWake: counted ? spread((round) => round.gets / (round.wakes || Number.NaN)) : null,
  };
}

const cpuUs = (row: Row): number[] => row.rounds.map((round) => round.cpuUs / round.gets);

export function ratio(what: string, of: Row, to: Row, aim: number | null): Comparison {
  return compare(what, 'times', of, to, aim, (a, b) => a / b);
}

export function difference(what: string, of: Row, to: Row, aim: number | null): Comparison {
  return compare(what, 'us', of, to, aim, (a, b) => a - b);
}

function compare(
  what: string,
  unit: Comparison['unit'],
  of: Row,
  to: Row,
  aim: number | null,
  by: (a: number, b: number) => number,
): Comparison {
  const [a, b] = [cpuUs(of), cpuUs(to)];
  const spread = spreadOf(a.map((value, i) => by(value, b[i]!)));
  const met = aim === null ? null : spread.median <= aim;
  return { what, unit, spread, ofMinima: by(Math.min(...a), Math.min(...b)), aim, met };
}

/** Of the measured ones, the one that needs the least; null: none was measured. */
export function bestOf(rows: readonly Row[]): Row | null {
  const measured = rows.filter((row) => row.rounds.length > 0);
  const least = (row: Row): number => Math.min(...cpuUs(row));
  return measured.reduce<Row | null>(
    (best, row) => (best === null || least(row) < least(best) ? row : best),
    null,
  );
}
