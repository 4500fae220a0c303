import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ended, killCalls, Os2g } from './os2g.js';
import { makeScratch, removeScratch } from './scratch.js';
import { Seaweed } from './seaweed.js';
import { findWeed } from './weed-binary.js';

export type JsonObject = Record<string, unknown>;

/** A SeaweedFS server, a folder for files, and the command with its environment pointed at the server. */
export class Rig {
  readonly env: Readonly<Record<string, string>>;
  readonly folder = makeScratch();
  readonly #isLogKept: () => boolean;

  private constructor(
    readonly store: Seaweed,
    isLogKept: () => boolean,
  ) {
    const { endpoint, region, accessKeyId, secretAccessKey } = store.access;
    this.#isLogKept = isLogKept;
    process.on('exit', () => removeScratch(this.folder));
    this.env = {
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    };
  }

  static async open(weed: string, isLogKept: () => boolean): Promise<Rig> {
    return new Rig(await Seaweed.start(weed), isLogKept);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  url(prefix: string): string {
    return `s3://${this.store.bucket}/${prefix}`;
  }

  /** Starts a call. */
  call(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Os2g {
    return new Os2g([...argv, '--json'], { ...this.env, ...env });
  }

  /** A call that does its work; returns its document. */
  async result(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
    const { code, signal, stdout, stderr } = await this.call(argv, env).ended;
    assert.is(code, 0, `os2g ${argv.join(' ')} ended with ${signal ?? code}\n${stdout}${stderr}`);
    return JSON.parse(stdout) as JsonObject;
  }

  /** A call that fails; returns its exit code and the error of its one document. */
  async failure(
    argv: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ exit: number | null; error: JsonObject }> {
    const ended = await this.call(argv, env).ended;
    return { exit: ended.code, error: errorOf(ended) };
  }

  async close(): Promise<void> {
    killCalls();
    removeScratch(this.folder);
    const keepLog = this.#isLogKept() ? join(tmpdir(), `os2g-seaweed-${process.pid}.log`) : undefined;
    await this.store.stop({ keepLog });
    if (keepLog !== undefined) process.stderr.write(`the log of SeaweedFS is kept in ${keepLog}\n`);
  }
}

/** The error of an `os2g.error/1` document, which must be all that was printed. */
export function errorOf({ stdout, stderr }: Ended): JsonObject {
  assert.ok(stdout !== '', `no document was printed\n${stderr}`);
  const { schema, error } = JSON.parse(stdout) as { schema: string; error: JsonObject };
  assert.is(schema, 'os2g.error/1', stderr);
  return error;
}

export type RigTest = (title: string, run: (rig: Rig) => Promise<void>) => void;

/**
 * Tests that share one server: started before the first one, ended after the last, whatever fails. Without SeaweedFS they are
 * skipped, and say why.
 */
export function rigTests(prepare: (rig: Rig) => Promise<void>): RigTest {
  const weed = findWeed();
  if (weed.path === null) {
    process.stdout.write(`# skip: ${weed.reason}\n`);
    return (title) => test.skip(title, () => {});
  }
  const { path } = weed;
  let rig: Rig | undefined;
  let hasFailed = false;
  // A test of its own, since uvu makes nothing of a `before` that throws; its rig is closed in `after` all the same.
  test('SeaweedFS starts and takes the data set', async () => {
    hasFailed = true;
    rig = await Rig.open(path, () => hasFailed);
    await prepare(rig);
    hasFailed = false;
  });
  test.after(async () => rig?.close());
  return (title, run) =>
    test(title, async () => {
      if (rig === undefined) throw new Error('there is no server');
      try {
        await run(rig);
      } catch (error) {
        hasFailed = true;
        throw error;
      } finally {
        killCalls();
        rig.store.resume();
      }
    });
}
