import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import { output } from './command.js';

const ROOM = join(packageRoot, 'bench', 'peers');
const REQUIREMENTS = join(ROOM, 'requirements.txt');
const VENV = join(ROOM, '.venv');
const STAMP = join(VENV, 'requirements.stamp');

export const PEER_SCRIPT = join(ROOM, 'python', 'serve.py');

/**
 * The interpreter with the pinned peers, made on first use.
 * @throws Error that says what failed
 */
export async function peerPython(): Promise<string> {
  const python = join(VENV, 'bin', 'python');
  const wanted = readFileSync(REQUIREMENTS, 'utf8');
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return python;
  process.stderr.write('making bench/peers/.venv with the Python peers\n');
  await output(process.env.OS2G_SETUP_PYTHON ?? 'python3', ['-m', 'venv', '--clear', VENV]);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', REQUIREMENTS];
  await output(python, pip);
  writeFileSync(STAMP, wanted);
  return python;
}

/** Names and versions of the peers, as they are pinned. */
export function peerVersions(): Record<string, string> {
  const pins = readFileSync(REQUIREMENTS, 'utf8').matchAll(/^([\w-]+)==(\S+)$/gm);
  const versions = Object.fromEntries([...pins].map(([, name, version]) => [name, version]));
  return {
    obstore: versions.obstore!,
    s3torchconnector: versions.s3torchconnectorclient!,
    boto3: versions.boto3!,
  };
}
