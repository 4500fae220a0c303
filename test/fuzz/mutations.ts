import { Os2gError } from '../../runtime-node/errors.js';
import { parseBytes } from '../../runtime-node/policy/units.js';
import { type Draw, seededDraws } from '../kit/index.js';

const ASKED = process.env.OS2G_FUZZ_BYTES;
/** Of each test: `OS2G_FUZZ_BYTES=10MB`, which also prints what came of it; null: as many inputs as the test says. */
const BYTES = ASKED === undefined ? null : parseBytes(ASKED, 'OS2G_FUZZ_BYTES');

/** What a test's inputs are to be: bytes of its own are for the short runs. */
export function fuzzBytes(ofItself: number): number {
  return BYTES ?? ofItself;
}

/** Numbers at which lengths and counts go wrong. */
const WORDS = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
];

/** One to three changes of a file's bytes: flipped bits, replaced words, cut, doubled, removed or inserted pieces. */
export function mutated(bytes: Uint8Array, draw: Draw): Uint8Array {
  // Not slice(): that of a Buffer shares its memory.
  let result: Uint8Array = new Uint8Array(bytes);
  const changes = 1 + Math.floor(draw() * 3);
  for (let i = 0; i < changes; i++) result = changed(result, draw);
  return result;
}

function changed(bytes: Uint8Array, draw: Draw): Uint8Array {
  const at = Math.floor(draw() * bytes.length);
  const length = 1 + Math.floor(draw() ** 3 * 64);
  switch (Math.floor(draw() * 6)) {
    case 0:
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(draw() * 8));
      return bytes;
    case 1:
      bytes[at] = Math.floor(draw() * 256);
      return bytes;
    case 2: {
      const from = Math.max(0, Math.min(at, bytes.length - 4));
      const word = WORDS[Math.floor(draw() * WORDS.length)]!;
      if (bytes.length >= 4) new DataView(bytes.buffer).setUint32(from, word, true);
      return bytes;
    }
    case 3:
      return bytes.slice(0, at);
    case 4:
      return joined(bytes.slice(0, at), bytes.slice(at + length));
    default:
      return joined(bytes.slice(0, at + length), bytes.slice(at));
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** What came of many mutated inputs, for the test to look at and to print. */
export interface FuzzOutcome {
  inputs: number;
  bytes: number;
  refused: Record<string, number>;
  taken: number;
}

/** Counts inputs of one kind of document; in long runs `finish` prints the sum, which `scripts/fuzz.js` gathers. */
export class FuzzTally {
  readonly outcome: FuzzOutcome = { inputs: 0, bytes: 0, refused: {}, taken: 0 };

  constructor(
    readonly kind: string,
    readonly seed: number,
  ) {}

  taken(bytes: number): void {
    this.add(bytes);
    this.outcome.taken++;
  }

  /** @throws what is no typed error, with seed and number of the input */
  refused(bytes: number, error: unknown): void {
    this.add(bytes);
    if (!(error instanceof Os2gError)) {
      const what = error instanceof Error ? error.stack : error;
      throw new Error(`seed ${this.seed}, input ${this.outcome.inputs - 1}: ${what}`);
    }
    this.outcome.refused[error.code] = (this.outcome.refused[error.code] ?? 0) + 1;
  }

  private add(bytes: number): void {
    this.outcome.inputs++;
    this.outcome.bytes += bytes;
  }

  finish(): FuzzOutcome {
    if (BYTES !== null)
      console.log(`fuzz ${JSON.stringify({ kind: this.kind, seed: this.seed, ...this.outcome })}`);
    return this.outcome;
  }
}

/**
 * Runs `work` on mutations; each is taken or refused with an Os2gError, anything else fails the test and names seed and input.
 * @param inputs in short runs; long ones go by bytes
 * @param check looks at what was taken
 */
export async function fuzz<Result>(
  kind: string,
  seed: number,
  inputs: number,
  original: Uint8Array,
  work: (bytes: Uint8Array) => Promise<Result>,
  check: (result: Result, bytes: Uint8Array) => void | Promise<void>,
): Promise<FuzzOutcome> {
  const tally = new FuzzTally(kind, seed);
  const draw = seededDraws(seed);
  const goesOn = ({ inputs: done, bytes }: FuzzOutcome) => (BYTES === null ? done < inputs : bytes < BYTES);
  while (goesOn(tally.outcome)) {
    const bytes = mutated(original, draw);
    let result: Result;
    try {
      result = await work(bytes);
    } catch (error) {
      tally.refused(bytes.length, error);
      continue;
    }
    try {
      await check(result, bytes);
    } catch (error) {
      const difference = error instanceof Error && 'details' in error ? `\n${error.details}` : '';
      throw new Error(`seed ${seed}, input ${tally.outcome.inputs}: ${error}${difference}`);
    }
    tally.taken(bytes.length);
  }
  return tally.finish();
}
