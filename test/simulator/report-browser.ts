import { spawn } from 'node:child_process';
import { accessSync, constants, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const HANG_MS = 90_000;

/** A Chromium on this machine, or null; `OS2G_CHROMIUM` names one. */
export function findChromium(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = [
    process.env.OS2G_CHROMIUM,
    ...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))),
  ];
  return candidates.find((path) => path !== undefined && canRun(path)) ?? null;
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Opened {
  /** The document after its scripts ran. */
  dom: string;
  /** What the page wrote to the console, uncaught errors among it. */
  console: string[];
}

/** Opens a local page without a window, with no network, and waits until its scripts ran. */
export async function openPage(chromium: string, url: string, more: readonly string[] = []): Promise<Opened> {
  const profile = mkdtempSync(join(tmpdir(), 'os2g-chromium-'));
  const child = spawn(
    chromium,
    [
      '--headless=new',
      // The page is our own file; a container's root has no other choice.
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
      '--disable-background-networking',
      '--host-resolver-rules=MAP * ~NOTFOUND',
      `--user-data-dir=${profile}`,
      '--enable-logging=stderr',
      '--window-size=1280,900',
      '--virtual-time-budget=5000',
      ...more,
      '--dump-dom',
      url,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const out = { dom: '', log: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out.dom += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    out.log += text;
  });
  const guard = setTimeout(() => child.kill('SIGKILL'), HANG_MS);
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    if (code !== 0) throw new Error(`${chromium} ended with ${code}: ${out.log.slice(-2000)}`);
    return { dom: out.dom, console: out.log.split('\n').filter((line) => line.includes(':CONSOLE')) };
  } finally {
    clearTimeout(guard);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
