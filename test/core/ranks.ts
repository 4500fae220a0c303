import type { JobSpec } from '../../runtime-node/policy/job.js';
import { probeCore, runWorld, type World } from '../kit/index.js';
import { MS } from './hand.js';

/** A rank's share of one global batch, as it was delivered. */
export interface Share {
  epoch: number;
  batch: number;
  rank: number;
  rows: number[];
  pads: number;
}

const EASY: World = { seed: 1, firstByteNs: (_, draw) => MS * (1 + 20 * draw()), stepNs: MS };

/** What every rank of a job gets, each from a core of its own or all from one. */
export async function sharesOf(
  job: JobSpec,
  { set = {}, together = false }: { set?: Record<string, string | number>; together?: boolean } = {},
): Promise<Share[]> {
  const worldSize = job.worldSize ?? 1;
  const shares: Share[] = [];
  const step = together ? worldSize : 1;
  for (let rank = 0; rank < worldSize; rank += step) {
    const probe = await probeCore({
      job: { memoryBytes: 100_000 * step, ...job, rank, consumers: step },
      preset: 'os2g',
      set,
    });
    const report = runWorld(probe, { ...EASY, seed: rank, sampleBytes: 100 });
    if (!report.ended) throw new Error(`rank ${rank} did not end`);
    for (const { consumer, epoch, batch, rows, pads } of report.batches) {
      shares.push({ epoch, batch, rank: rank + consumer, rows, pads });
    }
  }
  return shares;
}

/** Rows of every global batch, `epoch/batch` -> the ranks' shares one after the other. */
export function globalBatches(shares: readonly Share[]): Record<string, number[]> {
  const sorted = [...shares].sort((a, b) => a.epoch - b.epoch || a.batch - b.batch || a.rank - b.rank);
  const batches: Record<string, number[]> = {};
  for (const { epoch, batch, rows } of sorted) {
    const name = `${epoch}/${batch}`;
    batches[name] = [...(batches[name] ?? []), ...rows];
  }
  return batches;
}

/** Batches that each rank got in an epoch. */
export function stepsOf(shares: readonly Share[], worldSize: number, epoch: number): number[] {
  return Array.from(
    { length: worldSize },
    (_, rank) => shares.filter((s) => s.rank === rank && s.epoch === epoch).length,
  );
}
