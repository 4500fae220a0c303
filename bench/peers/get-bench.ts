import { join } from 'node:path';
import { packageRoot } from '../../runtime-node/package-root.js';
import { output } from './command.js';

/**
 * Compiles the Rust side, where sources changed: the bare engine and the plain `recv` loop.
 * @returns the binary's path
 * @throws Error with cargo's words
 */
export async function getBench(): Promise<string> {
  const room = join(packageRoot, 'native-gpudirect');
  const target = process.env.CARGO_TARGET_DIR ?? join(room, 'target');
  const build = ['build', '--release', '--quiet', '-p', 'os2g-engine', '--example', 'get-bench'];
  await output('cargo', [...build, '--manifest-path', join(room, 'Cargo.toml'), '--target-dir', target]);
  return join(target, 'release', 'examples', 'get-bench');
}
