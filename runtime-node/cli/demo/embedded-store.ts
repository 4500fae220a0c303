import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { devNull } from 'node:os';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { Os2gError } from '../../errors.js';

const helloSchema = z.object({
  endpoint: z.string(),
  region: z.string(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
});

export type StoreAddress = z.infer<typeof helloSchema>;

/** The scripted store in a child process. */
export class EmbeddedStore {
  readonly address: StoreAddress;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, address: StoreAddress) {
    this.#child = child;
    this.address = address;
  }

  /** @throws Os2gError `demo_store` where it does not come up */
  static async start(): Promise<EmbeddedStore> {
    const child = fork(fileURLToPath(new URL('./store-process.js', import.meta.url)), {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      execArgv: [],
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-2000);
    });
    const hello = await Promise.race([
      once(child, 'message').then(([message]) => helloSchema.parse(message)),
      once(child, 'exit').then(() => null),
    ]);
    if (hello) return new EmbeddedStore(child, hello);
    throw new Os2gError(
      'demo_store',
      `the embedded store did not start: ${stderr.trim() || 'no reason given'}`,
      'see that loopback connections are allowed',
    );
  }

  /** Ends the process; resolves when it is gone. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.disconnect();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 2000);
    await gone;
    clearTimeout(timer);
  }
}

/**
 * Runs `work` with the store's credentials where the AWS tools look for them, and with nothing else there that would
 * lead elsewhere.
 */
export async function withCredentials<T>({ credentials }: StoreAddress, work: () => Promise<T>): Promise<T> {
  const leads = (name: string): boolean => name.startsWith('AWS_');
  const saved = Object.entries(process.env).filter(([name]) => leads(name));
  const clear = (): void => {
    for (const name of Object.keys(process.env).filter(leads)) delete process.env[name];
  };
  clear();
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey;
  process.env.AWS_CONFIG_FILE = devNull;
  process.env.AWS_SHARED_CREDENTIALS_FILE = devNull;
  try {
    return await work();
  } finally {
    clear();
    Object.assign(process.env, Object.fromEntries(saved));
  }
}
