import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Contestant, RoundCost, StoreFacts } from './contestant.js';
import { runTool } from './tool.js';

/** The store's answer has a head before the body; wrk counts both. */
const HEAD_BYTES = 300;

/**
 * `wrk -t1`: it reads bodies into one small buffer and drops them. A run is a process of its own, measured whole: its start and its
 * connections are in the figure.
 */
export class Wrk implements Contestant {
  readonly #store: StoreFacts;
  readonly #script: string;
  readonly #seconds: number;

  /** @param isOne the same object again and again: no script runs for a request, and the body stays in the CPU's cache */
  constructor(store: StoreFacts, folder: string, seconds: number, isOne: boolean) {
    this.#store = store;
    this.#seconds = seconds;
    this.#script = join(folder, isOne ? 'wrk-one.lua' : 'wrk.lua');
    writeFileSync(this.#script, scriptText(store, isOne));
  }

  async round(): Promise<RoundCost> {
    const { endpoint, bucket, keys, objectBytes, inFlight } = this.#store;
    const wrk = [
      'wrk',
      '-t1',
      `-c${inFlight}`,
      `-d${this.#seconds}s`,
      '--timeout',
      '60s',
      '-s',
      this.#script,
    ];
    const timed = ['-c', 'TIMEFORMAT=\'CPU %3U %3S\'; time "$@"', 'bash'];
    const { stdout, stderr } = await runTool('bash', [...timed, ...wrk, `${endpoint}/${bucket}/${keys[0]}`]);
    const [, bytes, micros, errors] = /^SUM (\d+) (\d+) (\d+)$/m.exec(stdout)?.map(Number) ?? [];
    const [, user, system] = /^CPU ([\d.]+) ([\d.]+)$/m.exec(stderr)?.map(Number) ?? [];
    if (bytes === undefined || user === undefined || errors !== 0) throw new Error(`wrk: ${stdout}${stderr}`);
    return {
      // By bytes, so that objects which the end of the run cut off count for what was read of them.
      objects: bytes / (objectBytes + HEAD_BYTES),
      userUs: user * 1e6,
      systemUs: system! * 1e6,
      wallS: micros! / 1e6,
      checked: 0,
    };
  }

  async close(): Promise<void> {}
}

function scriptText({ keys, bucket }: StoreFacts, isOne: boolean): string {
  const sum = `function done(summary)
  local e = summary.errors
  print(string.format("SUM %d %d %d", summary.bytes, summary.duration, e.connect + e.read + e.write + e.status + e.timeout))
end
`;
  if (isOne) return sum;
  const paths = keys.map((key) => JSON.stringify(`/${bucket}/${key}`)).join(',\n');
  return `local paths, requests, n = {${paths}}, {}, 0
function init() for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end
function request() n = n % #requests + 1 return requests[n] end
${sum}`;
}
