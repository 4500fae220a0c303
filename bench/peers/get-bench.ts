import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import type { Contestant, RoundCost, StoreFacts } from './contestant.js';
import { runTool } from './tool.js';

const LINE =
  /^round 0: \w+ +([\d.]+) CPU us\/request \(([\d.]+) in the kernel, ([\d.]+) on I\/O threads\), +([\d.]+) requests\/s(?:, (.*))?$/m;

/** The engine's own bench: the plain `recv` loop, or the bare engine without Node. It measures itself, after a warm-up. */
export class GetBench implements Contestant {
  readonly #store: StoreFacts;
  readonly #program: string;
  readonly #mode: 'recv' | 'engine';
  readonly #urls: string;

  constructor(store: StoreFacts, folder: string, program: string, mode: 'recv' | 'engine') {
    this.#store = store;
    this.#program = program;
    this.#mode = mode;
    this.#urls = join(folder, 'urls');
    const { endpoint, bucket, keys, objectBytes } = store;
    writeFileSync(this.#urls, keys.map((key) => `${endpoint}/${bucket}/${key} ${objectBytes}\n`).join(''));
  }

  async round(objects: number): Promise<RoundCost> {
    const { caFile, inFlight } = this.#store;
    const args = ['--urls', this.#urls, '--mode', this.#mode, '--rounds', '1'];
    args.push('--in-flight', String(inFlight), '--requests', String(objects));
    if (caFile !== null) args.push('--ca', caFile);
    const { stdout } = await runTool(this.#program, args);
    const match = LINE.exec(stdout);
    if (match === null) throw new Error(`get-bench: cannot be read: ${stdout}`);
    const [cpuUs, systemUs, , perSecond] = match.slice(1, 5).map(Number) as [number, number, number, number];
    return {
      objects,
      userUs: (cpuUs - systemUs) * objects,
      systemUs: systemUs * objects,
      wallS: objects / perSecond,
      checked: 0,
      note: match[5],
    };
  }

  async close(): Promise<void> {}
}

/** Builds it where it is not given. @returns the program */
export async function buildGetBench(): Promise<string> {
  const workspace = join(packageRoot, 'native-gpudirect');
  const target = process.env.CARGO_TARGET_DIR ?? join(workspace, 'target');
  process.stderr.write('building get-bench (cargo, a release build: minutes the first time)\n');
  await runTool(
    'cargo',
    ['build', '--quiet', '--release', '--locked', '-p', 'os2g-engine', '--example', 'get-bench'],
    {
      cwd: workspace,
      limitS: 1200,
    },
  );
  const program = join(target, 'release', 'examples', 'get-bench');
  if (!existsSync(program)) throw new Error(`cargo built no ${program}`);
  return program;
}
