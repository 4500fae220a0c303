import type { Setting } from '../../runtime-node/policy/settings.js';
import { inverseNormal } from '../maths.js';
import { Stream } from '../random.js';
import { type Candidate, coordinateOf, decadeOf, TUNABLE, valueAt } from './space.js';

/** Share of the further changes that ignore where the value is and draw from its whole range. */
const FAR_SHARE = 0.25;
/** Share of the candidates that take each setting from one of two good ones. */
const CROSSED_SHARE = 0.3;
/** Each further setting is changed with this chance. */
const ONE_MORE = 0.45;
const MOST_CHANGES = 6;
/** First width of a step, in decades; it narrows from round to round. */
const WIDEST_STEP = 1;
const NARROWEST_STEP = 0.1;
const NARROWING = 0.75;

/**
 * Draws candidates near good ones: a few settings changed, most by a step on their own scale, some to anywhere in their range.
 * What is drawn is a function of (seed, round, known good candidates).
 */
export class Proposer {
  readonly #seed: number;
  readonly #takesTurns: boolean;
  readonly #seen = new Set<string>();
  #turn = 0;

  /**
   * @param base never proposed again
   * @param takesTurns every setting is changed as often as any other, up and down by turns, so that none is left to luck
   */
  constructor(seed: number, base: Candidate, takesTurns: boolean) {
    this.#seed = seed;
    this.#takesTurns = takesTurns;
    this.#seen.add(String(base));
  }

  /**
   * @param parents good candidates, best first; at least one
   * @param narrowings rounds that have narrowed the steps
   */
  draw(round: number, count: number, parents: readonly Candidate[], narrowings: number): Candidate[] {
    const stream = new Stream(this.#seed, 'tune', round);
    const step = Math.max(NARROWEST_STEP, WIDEST_STEP * NARROWING ** narrowings);
    const drawn: Candidate[] = [];
    // Where all that is near has been seen, fewer come than were asked for.
    for (let tries = 0; drawn.length < count && tries < count * 20; tries++) {
      const values = [...start(parents, stream)];
      if (this.#takesTurns) this.#changeInTurn(values, step, stream);
      else changeAny(values, step, stream);
      for (let i = 1; i < MOST_CHANGES && stream.next() < ONE_MORE; i++) changeAny(values, step, stream);
      const key = String(values);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      drawn.push(values);
    }
    return drawn;
  }

  #changeInTurn(values: number[], step: number, stream: Stream): void {
    const lap = Math.floor(this.#turn / TUNABLE.length);
    const i = turnOf(this.#seed, lap, this.#turn % TUNABLE.length);
    this.#turn++;
    const setting = TUNABLE[i]!;
    if (setting.choices) {
      values[i] = otherWord(setting.choices.length, values[i]!, stream);
      return;
    }
    const sign = (lap + i) % 2 === 0 ? 1 : -1;
    const width = step * (0.4 + Math.abs(inverseNormal(stream.next())));
    values[i] = stepped(setting, values[i]!, sign * width);
  }
}

/** Place of a turn in a lap: each setting once, in an order of the lap's own. */
function turnOf(seed: number, lap: number, turn: number): number {
  const stream = new Stream(seed, 'tune turns', lap);
  const order = TUNABLE.map((_, i) => ({ i, at: stream.next() })).sort((a, b) => a.at - b.at);
  return order[turn]!.i;
}

/** One of the parents, the better the likelier, or a cross of two. */
function start(parents: readonly Candidate[], stream: Stream): Candidate {
  const one = pick(parents, stream);
  if (parents.length === 1 || stream.next() >= CROSSED_SHARE) return one;
  const other = pick(parents, stream);
  return one.map((value, i) => (stream.next() < 0.5 ? value : other[i]!));
}

function pick(parents: readonly Candidate[], stream: Stream): Candidate {
  const u = stream.next();
  return parents[Math.floor(u * u * parents.length)]!;
}

function changeAny(values: number[], step: number, stream: Stream): void {
  const i = Math.floor(stream.next() * TUNABLE.length);
  const setting = TUNABLE[i]!;
  if (setting.choices) values[i] = otherWord(setting.choices.length, values[i]!, stream);
  else if (stream.next() < FAR_SHARE) values[i] = valueAt(setting, stream.next());
  else values[i] = stepped(setting, values[i]!, step * inverseNormal(stream.next()));
}

function otherWord(words: number, value: number, stream: Stream): number {
  return (value + 1 + Math.floor(stream.next() * (words - 1))) % words;
}

/** A step over the end of the range comes back into it. */
function stepped(setting: Setting, value: number, decades: number): number {
  const u = coordinateOf(setting, value) + decades * decadeOf(setting);
  const once = u < 0 ? -u : u > 1 ? 2 - u : u;
  return valueAt(setting, Math.min(1, Math.max(0, once)));
}
