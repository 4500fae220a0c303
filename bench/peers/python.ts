import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import type { ClientName, StoreFacts } from './contestant.js';
import { LineProcess } from './line-process.js';
import { runTool } from './tool.js';

const VENV = join(packageRoot, '.build', 'peers-venv');
const PYTHON = join(VENV, 'bin', 'python');
const INSTALLED = join(VENV, 'os2g-requirements.txt');
const here = (name: string): string => join(packageRoot, 'bench', 'peers', name);
/** Where Debian, and with it the AWS CRT, has the authorities that are trusted. */
const SYSTEM_BUNDLE = '/etc/ssl/certs/ca-certificates.crt';

/** Makes a virtual environment with the pinned packages; does nothing where it is there. */
export async function installPeers(): Promise<void> {
  const wanted = readFileSync(here('requirements.txt'), 'utf8');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === wanted) return;
  process.stderr.write('installing the Python peers\n');
  await runTool('python3', ['-m', 'venv', '--clear', VENV]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  await runTool(PYTHON, [...pip, '-r', here('requirements.txt')], { limitS: 600 });
  writeFileSync(INSTALLED, wanted);
}

/** Their versions, as the requirements pin them. */
export const peerVersions = (): string =>
  readFileSync(here('requirements.txt'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('=='))
    .join(', ');

export function startPeer(name: ClientName, store: StoreFacts, storeFile: string): LineProcess {
  const env = {
    ...process.env,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  };
  const command = [PYTHON, here('peers.py'), name, storeFile];
  if (name !== 's3torchconnector' || store.caFile === null)
    return new LineProcess(PYTHON, command.slice(1), env);
  // It takes no bundle: it gets one in place of the system's, in a mount namespace that ends with it. Needs root.
  const mount = 'mount --bind "$1" "$2" && shift 2 && exec "$@"';
  const args = ['--mount', 'sh', '-c', mount, 'sh', store.caFile, SYSTEM_BUNDLE, ...command];
  return new LineProcess('unshare', args, env);
}
