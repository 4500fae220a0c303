import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Contestant, RoundCost } from './contestant.js';

/** A client that takes the number of objects as a line and answers with a line of JSON. */
export class LineProcess implements Contestant {
  readonly #child: ChildProcess;
  readonly #lines: Interface;
  readonly #limitMs: number;

  constructor(command: string, args: readonly string[], env: NodeJS.ProcessEnv, limitS = 600) {
    this.#limitMs = limitS * 1000;
    this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! });
    this.#child.on('error', () => this.#lines.close());
    this.#child.stdin?.on('error', () => {}); // the end of the process tells it
  }

  async round(objects: number): Promise<RoundCost> {
    const given = new AbortController();
    const options = { signal: AbortSignal.any([given.signal, AbortSignal.timeout(this.#limitMs)]) };
    this.#child.stdin?.write(`${objects}\n`);
    try {
      const first = await Promise.race([
        once(this.#lines, 'line', options) as Promise<[string]>,
        once(this.#lines, 'close', options).then(() => null),
      ]);
      if (first === null) throw new Error(`${this.#child.spawnargs.join(' ')}: ended without an answer`);
      return JSON.parse(first[0]) as RoundCost;
    } finally {
      given.abort();
    }
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const over = once(this.#child, 'exit');
    this.#child.stdin?.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await over;
    clearTimeout(late);
  }
}
