import { gatherLayers, type Layers, type RawFlags, resolveOne } from './resolve.js';
import { optionName, variableName } from './spec.js';
import { COMMON_OPTIONS } from './tables.js';

/** How errors are to be told. */
export interface OutputForm {
  readonly json: boolean;
  readonly debug: boolean;
  readonly logFormat: string;
}

type Env = Layers['env'];

/**
 * How a call that is wrong asked for its error to be told: from whatever of it can be read.
 * @param layers the call's; null where it could not be read so far
 */
export function formOf(layers: Layers | null, argv: readonly string[], env: Env): OutputForm {
  const found = layers ?? layersOf(argv, env);
  return {
    json: readOne('json', found) === true,
    debug: readOne('debug', found) === true,
    logFormat: String(readOne('logFormat', found)),
  };
}

function layersOf(argv: readonly string[], env: Env): Layers {
  const flags = flagsIn(argv);
  try {
    return gatherLayers(flags, env);
  } catch {
    return { flags, env, file: null };
  }
}

/** Words that say how to tell an error, among words that make no call. */
function flagsIn(argv: readonly string[]): RawFlags {
  const flags: Record<string, unknown> = {};
  for (const field of ['json', 'debug']) if (argv.includes(`--${field}`)) flags[field] = true;
  for (const field of ['logFormat', 'config']) {
    const flag = `--${optionName(field)}`;
    argv.forEach((word, i) => {
      if (word.startsWith(`${flag}=`)) flags[field] = word.slice(flag.length + 1);
      else if (word === flag && argv[i + 1] !== undefined) flags[field] = argv[i + 1];
    });
  }
  return flags;
}

/** The value of the highest layer that has one, and a right one: a wrong one is what the error may be about. */
function readOne(field: keyof OutputForm, { flags, env, file }: Layers): unknown {
  const spec = COMMON_OPTIONS[field];
  const isGiven = [
    flags[field] !== undefined,
    env[variableName(field)] !== undefined,
    file !== null && Object.hasOwn(file.fields, optionName(field)),
  ];
  const single: Layers[] = [
    { flags, env: {}, file: null },
    { flags: {}, env, file: null },
    { flags: {}, env: {}, file },
  ];
  for (const [i, layer] of single.entries()) {
    try {
      if (isGiven[i]) return resolveOne(field, spec, layer);
    } catch {
      // the next one, then
    }
  }
  return spec.initial;
}
