import { ConfigError } from '../../errors.js';
import { didYouMean } from '../../nearest.js';
import { readJsonObject } from './config-file.js';
import { type OptionSpec, type OptionTable, type OptionValues, optionName, variableName } from './spec.js';

/** What the command line held, as commander collected it: text, repeated text, or `true` for a switch. */
export type RawFlags = Readonly<Record<string, unknown>>;

export interface Layers {
  readonly flags: RawFlags;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fields of the configuration file, by option name; null without one. */
  readonly file: { readonly path: string; readonly fields: Readonly<Record<string, unknown>> } | null;
}

/**
 * Values of all options: flag, then OS2G_* variable, then file, then default.
 * @throws ConfigError `bad_option` that names where the wrong value stands.
 */
export function resolveOptions<S extends OptionTable>(table: S, layers: Layers): OptionValues<S> {
  refuseUnknownFields(table, layers.file);
  const values: Record<string, unknown> = {};
  for (const [field, spec] of Object.entries(table)) values[field] = resolveOne(field, spec, layers);
  return values as OptionValues<S>;
}

/** One option's value. @throws ConfigError as `resolveOptions` does */
export function resolveOne(field: string, spec: OptionSpec<unknown>, { flags, env, file }: Layers): unknown {
  const name = optionName(field);
  const variable = variableName(field);
  const given: unknown[] = [];
  // What a higher layer overrides is not even read: it may be wrong. Where layers merge, all of them count.
  const take = (where: string, read: (where: string) => unknown): void => {
    if (given.length === 0 || spec.merge) given.push(named(name, where, read));
  };
  const [raw, text] = [flags[field], env[variable]];
  if (raw !== undefined) take(`--${name}`, (where) => fromFlag(spec, raw, where));
  if (text !== undefined) take(variable, (where) => spec.fromText(text, where));
  if (file && Object.hasOwn(file.fields, name)) {
    take(`${file.path}: ${name}`, (where) => spec.fromJson(file.fields[name], where));
  }
  if (given.length === 0) return spec.initial;
  return spec.merge ? given.reduceRight((lower, higher) => spec.merge?.(higher, lower)) : given[0];
}

/** The message says where the value stands; the error's `option` is the option's name in all cases. */
function named(name: string, where: string, read: (where: string) => unknown): unknown {
  try {
    return read(where);
  } catch (error) {
    if (!(error instanceof ConfigError) || error.context.option !== where) throw error;
    throw new ConfigError(error.code, error.message, error.mend, { ...error.context, option: name });
  }
}

function fromFlag(spec: OptionSpec<unknown>, raw: unknown, where: string): unknown {
  if (raw === true) return true;
  const texts = Array.isArray(raw) ? raw.map(String) : [String(raw)];
  const values = texts.map((text) => spec.fromText(text, where));
  if (spec.repeatable && !spec.merge) return values.flat();
  return spec.merge ? values.reduce((lower, higher) => spec.merge?.(higher, lower)) : values.at(-1);
}

function refuseUnknownFields(table: OptionTable, file: Layers['file']): void {
  if (!file) return;
  const known = Object.keys(table)
    .filter((field) => field !== 'config')
    .map(optionName);
  for (const name of Object.keys(file.fields)) {
    if (known.includes(name)) continue;
    throw new ConfigError(
      'unknown_field',
      `${file.path}: there is no option ${JSON.stringify(name)} for this command`,
      didYouMean(name, known, 'remove the field; --help lists the options'),
      { option: name, file: file.path },
    );
  }
}

/** The layers of one call; `--config` (or OS2G_CONFIG) names the file. */
export function gatherLayers(flags: RawFlags, env: Layers['env']): Layers {
  const path = flags.config ?? env[variableName('config')];
  if (path === undefined) return { flags, env, file: null };
  return { flags, env, file: { path: String(path), fields: readJsonObject(String(path), 'configuration') } };
}
