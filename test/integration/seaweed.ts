import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from './free-ports.js';
import { S3Writer, type StoreAccess } from './s3-writer.js';
import { makeScratch, removeScratch } from './scratch.js';

const CREDENTIALS = { accessKeyId: 'OS2GTESTKEY', secretAccessKey: 'os2g/test+secret=' };
const SERVICES = ['master', 'volume', 'filer', 's3'] as const;
const READY_MS = 60_000;
const POLL_MS = 50;
const STARTS = 3;
const LOG_TAIL_BYTES = 4_000;

/** Servers that run; ended at the latest with the process that started them, however it ends. */
const running = new Set<Seaweed>();
process.on('exit', () => {
  for (const seaweed of running) seaweed.kill();
});
// A signal that nobody handles would end this process without its `exit`.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/**
 * A SeaweedFS server: master, volume, filer and S3 gateway in one process on the loopback interface, with one identity, so that
 * requests without a right signature are refused.
 *
 * It stays in the process group of the test that starts it: who ends that group ends the server too.
 */
export class Seaweed {
  readonly access: StoreAccess;
  readonly bucket = 'data';
  readonly writer: S3Writer;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #grpcPorts: readonly number[];
  readonly #ended: Promise<void>;
  #isRunning = true;

  private constructor(weed: string, ports: readonly number[]) {
    this.#folder = makeScratch();
    this.#grpcPorts = ports.slice(SERVICES.length);
    this.access = { endpoint: `http://127.0.0.1:${ports[3]}`, region: 'us-east-1', ...CREDENTIALS };
    this.writer = new S3Writer(this.access);
    const log = openSync(this.logFile, 'w');
    this.#child = spawn(weed, serverArguments(this.#folder, ports), {
      cwd: this.#folder,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    running.add(this);
    this.#child.unref();
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        this.#isRunning = false;
        resolve();
      };
      this.#child.once('exit', end);
      this.#child.once('error', end);
    });
  }

  /**
   * Starts a server and waits until it takes objects.
   * @throws Error with the end of its log where it does not come up
   */
  static async start(weed: string): Promise<Seaweed> {
    for (let start = 1; ; start++) {
      const seaweed = new Seaweed(weed, await freePorts(2 * SERVICES.length));
      try {
        await seaweed.#ready();
        return seaweed;
      } catch (error) {
        const tail = seaweed.logTail();
        await seaweed.stop();
        const portWasTaken = /address already in use/.test(tail);
        if (!portWasTaken || start === STARTS) throw new Error(`${(error as Error).message}\n${tail}`);
      }
    }
  }

  get logFile(): string {
    return join(this.#folder, 'weed.log');
  }

  logTail(): string {
    return readFileSync(this.logFile, 'utf8').slice(-LOG_TAIL_BYTES);
  }

  /** Freezes the server: connections stay, nothing moves. */
  pause(): void {
    this.#child.kill('SIGSTOP');
  }

  resume(): void {
    this.#child.kill('SIGCONT');
  }

  /** Ends it at once; its data go with it anyway. */
  kill(): void {
    if (this.#isRunning) this.#child.kill('SIGKILL');
    running.delete(this);
    removeScratch(this.#folder);
    // It puts these into a place of its own choice.
    for (const [i, port] of this.#grpcPorts.entries()) {
      rmSync(`/tmp/seaweedfs-${SERVICES[i]}-grpc-${port}.sock`, { force: true });
    }
  }

  /** Ends it and removes what it stored. @param keepLog a file to keep its log in */
  async stop({ keepLog }: { keepLog?: string } = {}): Promise<void> {
    if (keepLog !== undefined) copyFileSync(this.logFile, keepLog);
    await this.writer.close();
    // The folder goes last: the server must not write into it again.
    if (this.#isRunning && this.#child.pid !== undefined) {
      this.#child.ref();
      this.#child.kill('SIGKILL');
      await this.#ended;
    }
    this.kill();
  }

  async #ready(): Promise<void> {
    const deadlineMs = performance.now() + READY_MS;
    let last: unknown;
    let hasBucket = false;
    while (performance.now() < deadlineMs) {
      if (!this.#isRunning) throw new Error('SeaweedFS ended as it started');
      try {
        if (!hasBucket) await this.writer.createBucket(this.bucket);
        hasBucket = true;
        await this.writer.put(this.bucket, 'probe', Buffer.from('probe'));
        await this.writer.delete(this.bucket, 'probe');
        return;
      } catch (error) {
        last = error;
        await sleep(POLL_MS);
      }
    }
    throw new Error(`SeaweedFS was not ready in ${READY_MS / 1000} s: ${last}`);
  }
}

function serverArguments(folder: string, ports: readonly number[]): string[] {
  const data = join(folder, 'data');
  const identities = join(folder, 's3.json');
  mkdirSync(data);
  const { accessKeyId: accessKey, secretAccessKey: secretKey } = CREDENTIALS;
  const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging'];
  const identity = { name: 'test', credentials: [{ accessKey, secretKey }], actions };
  writeFileSync(identities, JSON.stringify({ identities: [identity] }));
  const options: Record<string, string | number | boolean> = {
    ip: '127.0.0.1',
    'ip.bind': '127.0.0.1',
    dir: data,
    'master.telemetry': false,
    'master.electionTimeout': '1s',
    'master.volumeSizeLimitMB': 1024,
    'volume.max': 50,
    filer: true,
    'filer.localSocket': join(folder, 'filer.sock'),
    s3: true,
    's3.config': identities,
    's3.iam': false,
    's3.port.iceberg': 0,
    's3.port.lance': 0,
    's3.localSocket': join(folder, 's3.sock'),
  };
  for (const [i, service] of SERVICES.entries()) {
    options[`${service}.port`] = ports[i] as number;
    options[`${service}.port.grpc`] = ports[SERVICES.length + i] as number;
  }
  const words = Object.entries(options).map(([name, value]) => `-${name}=${value}`);
  return ['-logtostderr=true', 'server', ...words];
}
