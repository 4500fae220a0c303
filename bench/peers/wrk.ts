import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import type { PeerClient, Round } from './client.js';
import { output } from './command.js';

const SECONDS = 1;
const SCRIPT = join(packageRoot, 'bench', 'peers', 'wrk.lua');

/**
 * wrk with one thread: an HTTP load generator that throws bodies away, and checks nothing but the status. Each round is a
 * process of its own that runs for a second; making its connections is in the figure.
 */
export class Wrk implements PeerClient {
  readonly #args: readonly string[];
  readonly #objectBytes: number;

  /** @param pathsFile one path a line */
  constructor(url: string, pathsFile: string, inFlight: number, objectBytes: number) {
    const options = ['-t1', `-c${inFlight}`, `-d${SECONDS}s`, '--timeout', '30s', '-s', SCRIPT];
    this.#args = [...options, url, '--', pathsFile];
    this.#objectBytes = objectBytes;
  }

  async round(): Promise<Round> {
    const script = 'TIMEFORMAT="cpu %3U %3S"; time "$@"';
    const text = await output('bash', ['-c', script, 'bash', 'wrk', ...this.#args]);
    const cpu = /^cpu ([\d.]+) ([\d.]+)$/m.exec(text);
    const sums = /^\{.*\}$/m.exec(text);
    if (cpu === null || sums === null) throw new Error(`wrk said something else:\n${text}`);
    const { gets, wallUs, errors } = JSON.parse(sums[0]) as Round & { errors: number };
    if (errors > 0) throw new Error(`wrk had ${errors} errors:\n${text}`);
    const [userUs, systemUs] = [Number(cpu[1]) * 1e6, Number(cpu[2]) * 1e6];
    return { gets, bytes: gets * this.#objectBytes, cpuUs: userUs + systemUs, systemUs, wallUs };
  }

  async verify(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {}
}
