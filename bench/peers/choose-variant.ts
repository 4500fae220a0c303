import type { PeerClient } from './client.js';

const TRIALS = 2;

export interface Chosen {
  client: PeerClient;
  variant: string;
  /** CPU microseconds a GET that each variant took in its trial. */
  tried: Record<string, number>;
}

/** The best that a client can do: each variant reads a little, and the one that needs the least CPU stays. */
export async function chooseVariant(
  variants: readonly string[],
  gets: number,
  start: (variant: string) => Promise<PeerClient>,
): Promise<Chosen> {
  const tried: Record<string, number> = {};
  let best: Chosen | null = null;
  for (const variant of variants) {
    const client = await start(variant);
    tried[variant] = await leastCpuUs(client, gets);
    if (best === null || tried[variant] < tried[best.variant]!) {
      await best?.client.close();
      best = { client, variant, tried };
    } else await client.close();
  }
  if (best === null) throw new RangeError('no variant to choose from');
  return best;
}

async function leastCpuUs(client: PeerClient, gets: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let trial = -1; trial < TRIALS; trial++) {
    const { cpuUs, gets: done } = await client.round(gets);
    if (trial >= 0) least = Math.min(least, cpuUs / done);
  }
  return least;
}
