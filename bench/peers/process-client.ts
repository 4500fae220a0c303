import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { PeerClient, Round, Verified } from './client.js';

const ANSWER_MS = 120_000;

/** A client that takes orders from its standard input and answers each with a line of JSON. */
export class ProcessClient implements PeerClient {
  readonly #name: string;
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #lines: AsyncIterator<string>;
  #said = '';

  private constructor(name: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.#name = name;
    this.#child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-4000);
    });
    this.#child.stdin.on('error', () => {}); // it ended: the answer that never comes says so
    const lines: Interface = createInterface({ input: this.#child.stdout });
    this.#lines = lines[Symbol.asyncIterator]();
  }

  /** @throws Error with what the process said, when it does not come to life */
  static async start(
    name: string,
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
  ): Promise<ProcessClient> {
    const client = new ProcessClient(name, command, args, env);
    await client.#answer();
    return client;
  }

  round(gets: number): Promise<Round> {
    return this.#ask<Round>(`round ${gets}`);
  }

  verify(): Promise<Verified> {
    return this.#ask<Verified>('verify');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const over = once(this.#child, 'exit');
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await over;
    clearTimeout(late);
  }

  async #ask<T>(order: string): Promise<T> {
    this.#child.stdin.write(`${order}\n`);
    return (await this.#answer()) as T;
  }

  async #answer(): Promise<unknown> {
    const late = setTimeout(() => this.#child.kill('SIGKILL'), ANSWER_MS);
    const { value, done } = await this.#lines.next();
    clearTimeout(late);
    if (done !== true) return JSON.parse(value);
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    const { exitCode, signalCode } = this.#child;
    throw new Error(`${this.#name} ended (${exitCode ?? signalCode}): ${this.#said.trim()}`);
  }
}
