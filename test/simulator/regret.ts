import { CorePool, loadScenario, simulateNow } from '../../simulator/index.js';
import { MOST_NODES, type RegretCase, regretSuite } from './regret-suite.js';

export interface RegretRow {
  name: string;
  faulty: boolean;
  epochS: number;
  boundS: number;
  by: string;
  /** Epoch time over bound, minus one. */
  regret: number;
  requests: number;
  retries: number;
  hedges: number;
  stalls: string;
}

/** Runs the `os2g` pipeline of every case. */
export async function regretRows(only?: (c: RegretCase) => boolean): Promise<RegretRow[]> {
  const cores = await CorePool.load();
  await cores.ensure(MOST_NODES);
  return regretSuite()
    .filter(only ?? (() => true))
    .map((c) => rowOf(c, cores));
}

function rowOf(c: RegretCase, cores: CorePool): RegretRow {
  const [result] = simulateNow(loadScenario(c.scenario), {}, cores).results;
  if (!result) throw new Error('no result');
  const epochS = result.epoch_s[0]!;
  return {
    name: c.name,
    faulty: c.faulty,
    epochS,
    boundS: result.bound.epoch_s,
    by: result.bound.by,
    regret: epochS / result.bound.epoch_s - 1,
    requests: result.requests,
    retries: result.retries,
    hedges: result.hedges,
    stalls: Object.entries(result.stall_s)
      .filter(([, s]) => s >= 0.005)
      .map(([cause, s]) => `${cause} ${s.toFixed(2)}`)
      .join(', '),
  };
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? 0;
}

export function regretTable(rows: readonly RegretRow[]): string {
  const lines = rows.map((r) =>
    [
      r.name.padEnd(34),
      r.epochS.toFixed(3).padStart(8),
      r.boundS.toFixed(3).padStart(8),
      r.by.padEnd(14),
      `${(100 * r.regret).toFixed(2)} %`.padStart(9),
      String(r.requests).padStart(7),
      String(r.retries).padStart(6),
      String(r.hedges).padStart(6),
      ` ${r.stalls}`,
    ]
      .join(' ')
      .trimEnd(),
  );
  const head = `${'case'.padEnd(34)}  epoch s  bound s bound by         regret requests retries hedges  stalls, s`;
  const clean = rows.filter((r) => !r.faulty).map((r) => r.regret);
  const foot = [
    `median of ${rows.length}: ${(
      100 *
        quantile(
          rows.map((r) => r.regret),
          0.5,
        )
    ).toFixed(2)} %`,
    `95 % of the ${clean.length} without faults: ${(100 * quantile(clean, 0.95)).toFixed(2)} %`,
  ];
  return [head, ...lines, '', ...foot, ''].join('\n');
}
