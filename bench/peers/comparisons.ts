import { bestOf, type Comparison, difference, type Row, ratio } from './figures.js';
import { type ClientName, isPythonPeer } from './roster.js';

const ENGINE_TO_RECV = 1.15;
const ENGINE_TO_WRK = 0.9;
const FEED_OVER_ENGINE_US = 8;
/** Larger ones are several requests of the feed, and one of the engine's. */
const LARGEST_WHOLE_BYTES = 8 * 2 ** 20;
/** Of the whole feed to the best peer, by the least object that it holds for. */
const FEED_TO_PEER: readonly (readonly [leastBytes: number, aim: number])[] = [
  [32e6, 0.5],
  [1e6, 0.35],
  [0, 0.15],
];

/** What is set against what, with the aims. The rows of the first number in flight come first. */
export function comparisonsOf(rows: readonly Row[], objectBytes: number): Comparison[] {
  const inFlight = rows[0]?.inFlight ?? 0;
  const row = (name: ClientName, at = inFlight): Row | null =>
    rows.find((each) => each.name === name && each.inFlight === at && each.rounds.length > 0) ?? null;
  const list: Comparison[] = [];
  const [recv, engine, wrk, feed] = [row('recv'), row('engine'), row('wrk'), row('feed-native')];
  if (engine && recv) list.push(ratio('engine / recv', engine, recv, ENGINE_TO_RECV));
  if (engine && wrk) list.push(ratio('engine / wrk', engine, wrk, ENGINE_TO_WRK));
  const peers = rows.filter((each) => isPythonPeer(each.name));
  const best = bestOf(peers.filter((each) => each.inFlight === inFlight));
  // What an aim can be at the least: nobody receives the bytes for less.
  if (recv && wrk) list.push(ratio('recv / wrk', recv, wrk, null));
  if (recv && best) list.push(ratio(`recv / ${best.name} (best peer)`, recv, best, null));
  const aim = FEED_TO_PEER.find(([leastBytes]) => objectBytes >= leastBytes)![1];
  if (feed && best) list.push(ratio(`feed-native / ${best.name} (best peer)`, feed, best, aim));
  const portable = row('feed-portable');
  if (portable && best) list.push(ratio(`feed-portable / ${best.name} (best peer)`, portable, best, null));
  const fewer = bestOf(peers.filter((each) => each.inFlight !== inFlight));
  if (feed && fewer) {
    list.push(ratio(`feed-native / ${fewer.name} with ${fewer.inFlight} in flight`, feed, fewer, null));
  }
  if (feed && portable) list.push(ratio('feed-native / feed-portable', feed, portable, null));
  return objectBytes > LARGEST_WHOLE_BYTES ? list : [...list, ...overEngine(rows, row)];
}

/** At the first number in flight the aim is fixed; at each further one it is to be less than at the one before. */
function overEngine(
  rows: readonly Row[],
  row: (name: ClientName, inFlight: number) => Row | null,
): Comparison[] {
  const list: Comparison[] = [];
  for (const inFlight of new Set(rows.map((each) => each.inFlight))) {
    const [feed, engine] = [row('feed-native', inFlight), row('engine', inFlight)];
    const aim = list.at(-1)?.spread.median ?? FEED_OVER_ENGINE_US;
    if (feed && engine)
      list.push(difference(`feed-native - engine, ${inFlight} in flight`, feed, engine, aim));
  }
  return list;
}
