import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { ConfigError, Os2gError } from '../../runtime-node/errors.js';
import { fileProblem } from '../../runtime-node/file-problem.js';
import { readable } from '../../runtime-node/input-file.js';
import type { EvaluateBatch, EvaluateOptions, Trial, TrialOutcome } from './trial.js';

const SCHEMA = 'os2g.tune-journal/1';

/** What a search is: outcomes of another one are of no use to it. Compared field by field. */
export type SearchIdentity = Readonly<Record<string, unknown>>;

/**
 * Every outcome so far, one JSON line each, appended as it is known. A search that goes on runs from its start with these
 * outcomes instead of simulations, so it takes the same way.
 */
export class Journal {
  readonly #file: string | null;
  readonly #known = new Map<string, TrialOutcome>();

  private constructor(file: string | null) {
    this.#file = file;
  }

  /** Kept in memory only. */
  static inMemory(): Journal {
    return new Journal(null);
  }

  /** @throws ConfigError `bad_journal` where there is a file already; `write_failed` */
  static create(file: string, identity: SearchIdentity): Journal {
    if (existsSync(file)) {
      throw badJournal(file, 'is there already', 'add --resume to go on from it, or name another file');
    }
    const journal = new Journal(file);
    journal.#write(() => writeFileSync(file, line({ schema: SCHEMA, ...identity }), { flag: 'wx' }));
    return journal;
  }

  /** A last line that was cut off is dropped. @throws ConfigError `bad_journal` that names what differs */
  static resume(file: string, identity: SearchIdentity): Journal {
    const lines = wholeLines(file);
    const [head] = lines;
    if (head?.schema !== SCHEMA)
      throw badJournal(file, `is no journal of a search (${SCHEMA})`, 'name the file of --journal');
    for (const [name, value] of Object.entries(identity)) {
      if (JSON.stringify(head[name]) === JSON.stringify(value)) continue;
      throw badJournal(
        file,
        `is of another search: ${name} was ${JSON.stringify(head[name])} and is ${JSON.stringify(value)}`,
        'call os2g tune with the same scenarios and options, or begin another journal',
      );
    }
    const journal = new Journal(file);
    for (const { key, outcome } of lines.slice(1)) journal.#known.set(String(key), outcome as TrialOutcome);
    return journal;
  }

  get size(): number {
    return this.#known.size;
  }

  /** The same evaluation with a memory: what is known is not run again, what is new is written down as it comes. */
  remember(evaluate: EvaluateBatch): EvaluateBatch {
    return async (trials, options = {}) => {
      const keys = trials.map(keyOf);
      const unknown = new Map(keys.flatMap((key, i) => (this.#known.has(key) ? [] : [[key, i] as const])));
      const [newKeys, places] = [[...unknown.keys()], [...unknown.values()]];
      if (newKeys.length > 0) {
        const onOutcomes: EvaluateOptions['onOutcomes'] = (outcomes) => {
          this.#add(outcomes.map(([i, outcome]) => [newKeys[i]!, outcome]));
          options.onOutcomes?.(outcomes.map(([i, outcome]) => [places[i]!, outcome]));
        };
        await evaluate(
          places.map((i) => trials[i]!),
          { signal: options.signal, onOutcomes },
        );
      }
      return keys.map((key) => this.#known.get(key)!);
    };
  }

  #add(outcomes: readonly (readonly [string, TrialOutcome])[]): void {
    for (const [key, outcome] of outcomes) this.#known.set(key, outcome);
    const file = this.#file;
    if (file === null) return;
    const text = outcomes.map(([key, outcome]) => line({ key, outcome })).join('');
    this.#write(() => appendFileSync(file, text));
  }

  #write(work: () => void): void {
    try {
      work();
    } catch (cause) {
      throw new Os2gError(
        'write_failed',
        `the journal ${this.#file} cannot be written: ${(cause as Error).message}`,
        'make room or name another file, then go on with --resume',
        { file: this.#file ?? undefined, cause },
      );
    }
  }
}

function keyOf({ scenario, seed, share, set }: Trial): string {
  return JSON.stringify([scenario, seed, Number(share.toPrecision(6)), set]);
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function wholeLines(file: string): Record<string, unknown>[] {
  try {
    const text = readFileSync(readable(file), 'utf8');
    const end = text.lastIndexOf('\n') + 1;
    if (end < text.length) truncateSync(file, Buffer.byteLength(text.slice(0, end)));
    return text
      .slice(0, end)
      .split('\n')
      .filter((entry) => entry !== '')
      .map((entry) => JSON.parse(entry) as Record<string, unknown>);
  } catch (cause) {
    throw badJournal(file, `cannot be read: ${fileProblem(cause)}`, 'name the file of --journal', cause);
  }
}

function badJournal(file: string, what: string, mend: string, cause?: unknown): ConfigError {
  return new ConfigError('bad_journal', `the journal ${file} ${what}`, mend, {
    option: 'journal',
    file,
    cause,
  });
}
