/** Something that the TypeScript API and the command call by different names. */
export interface Named {
  readonly api: string;
  readonly command: string;
}

/** Who tells a sentence, and so whose names it uses. */
export type Teller = keyof Named;

/** A sentence whose names are filled in by who tells it: the same error is thrown by `openFeed` and printed by `os2g feed`. */
export class Wording {
  readonly #parts: readonly (string | Named)[];

  constructor(parts: readonly (string | Named)[]) {
    this.#parts = parts;
  }

  tell(teller: Teller): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : part[teller])).join('');
  }

  get parts(): readonly (string | Named)[] {
    return this.#parts;
  }
}

/** Text that is the same for everybody, or a wording. */
export type Text = string | Wording;

export function tell(text: Text, teller: Teller): string {
  return typeof text === 'string' ? text : text.tell(teller);
}

/** A template of a sentence with names in it: words`raise ${option('memoryBytes')}`. */
export function words(strings: TemplateStringsArray, ...values: readonly (Text | number | Named)[]): Wording {
  const parts: (string | Named)[] = [strings[0] ?? ''];
  values.forEach((value, i) => {
    if (value instanceof Wording) parts.push(...value.parts);
    else parts.push(typeof value === 'number' ? String(value) : value);
    parts.push(strings[i + 1] ?? '');
  });
  return new Wording(parts);
}

/** Options whose name in the command is not that of the API in its spelling. */
const COMMAND_NAMES: Readonly<Record<string, string>> = { memoryBytes: 'memory' };

/** `batchSamples` -> `batch-samples`, `s3.region` -> `region`; a name that is the command's already stays. */
export function commandName(apiName: string): string {
  const name = apiName.replace(/^s3\./, '');
  // A variable, or a field of a file.
  if (!/^[a-z][A-Za-z.]*$/.test(name)) return name;
  return COMMAND_NAMES[name] ?? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** An option of `openFeed`, with a value of it where the sentence is about one. */
export function option(apiName: string, value?: string): Named {
  const flag = `--${commandName(apiName)}`;
  return value === undefined
    ? { api: apiName, command: flag }
    : { api: `${apiName}: '${value}'`, command: `${flag} ${value}` };
}

/** A setting of the policy. */
export function setting(name: string): Named {
  return { api: `set['${name}']`, command: `--set ${name}` };
}
