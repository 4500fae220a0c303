import { Os2gError } from '../../runtime-node/errors.js';
import { type Draw, seededDraws } from '../kit/index.js';

/** `OS2G_FUZZ_SCALE=50` makes a long run of a short one, which prints what came of it. */
const SCALE = Number(process.env.OS2G_FUZZ_SCALE ?? 1);

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

/**
 * Runs `work` on mutations; each is taken or refused with an Os2gError, anything else fails the test and names seed and input.
 * @param check looks at what was taken
 */
export async function fuzz<Result>(
  seed: number,
  inputs: number,
  original: Uint8Array,
  work: (bytes: Uint8Array) => Promise<Result>,
  check: (result: Result, bytes: Uint8Array) => void,
): Promise<FuzzOutcome> {
  const count = inputs * SCALE;
  const outcome: FuzzOutcome = { inputs: count, bytes: 0, refused: {}, taken: 0 };
  const draw = seededDraws(seed);
  for (let n = 0; n < count; n++) {
    const bytes = mutated(original, draw);
    outcome.bytes += bytes.length;
    try {
      check(await work(bytes), bytes);
      outcome.taken++;
    } catch (error) {
      if (!(error instanceof Os2gError)) {
        throw new Error(`seed ${seed}, input ${n}: ${error instanceof Error ? error.stack : error}`);
      }
      outcome.refused[error.code] = (outcome.refused[error.code] ?? 0) + 1;
    }
  }
  if (SCALE > 1) console.log(JSON.stringify({ seed, ...outcome }));
  return outcome;
}
