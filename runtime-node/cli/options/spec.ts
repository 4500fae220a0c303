/**
 * What an option is, in one place: commander's flags, the OS2G_* variables, the fields of a configuration file, `--help`
 * and docs/cli.md are all made from tables of these.
 */
export interface OptionSpec<T> {
  /** Shown in help: `<n>`, `<size>`; null for a flag that takes no value. */
  readonly placeholder: string | null;
  readonly meaning: string;
  /** The default in words, as help shows it; null where there is none. */
  readonly defaultText: string | null;
  readonly initial: T;
  /** One letter, as in `-o`. */
  readonly short?: string;
  /** May be given several times: the values merge, or, without `merge`, are lists that make one. */
  readonly repeatable: boolean;
  /** From the command line or a variable. @throws ConfigError `bad_option` that names `where` and the range. */
  fromText(text: string, where: string): T;
  /** From a field of a configuration file. @throws ConfigError likewise. */
  fromJson(value: unknown, where: string): T;
  /** How values of several layers (flag, variable, file) come together; the higher one wins where this is absent. */
  merge?(higher: T, lower: T): T;
}

export type OptionTable = Readonly<Record<string, OptionSpec<unknown>>>;
export type OptionValues<S extends OptionTable> = {
  readonly [K in keyof S]: S[K] extends OptionSpec<infer T> ? T : never;
};

/** `batchSamples` -> `batch-samples`: the name on the command line (after `--`) and in a configuration file. */
export function optionName(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `batchSamples` -> `OS2G_BATCH_SAMPLES`. */
export function variableName(field: string): string {
  return `OS2G_${optionName(field).toUpperCase().replaceAll('-', '_')}`;
}
