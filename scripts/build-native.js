import { existsSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main, SetupError, say } from './lib/fail.js';
import { inRoot } from './lib/root.js';
import { run } from './lib/run.js';
import { contentHash, filesUnder, installedVersion, readStamp, writeStamp } from './lib/stamp.js';

const CRATES = ['engine', 'node', 'transfer', 'ucx', 'wire'];
const ROOM = inRoot('native-gpudirect');
const OUTPUT = inRoot('native-gpudirect', 'node');
const TARGETS = { x64: 'x86_64-unknown-linux-gnu', arm64: 'aarch64-unknown-linux-gnu' };

function sources() {
  const isSource = (path) => /\.(rs|toml)$/.test(path) && !path.includes('/target/');
  return [
    ...['Cargo.toml', 'Cargo.lock', 'node/package.json'].map((name) => inRoot('native-gpudirect', name)),
    ...CRATES.flatMap((crate) => filesUnder(inRoot('native-gpudirect', crate), isSource)),
  ].filter(existsSync);
}

const outputFor = (arch) => inRoot('native-gpudirect', 'node', `os2g-native.linux-${arch}-gnu.node`);

async function cargoVersion() {
  const { code, output } = await run('cargo', ['--version']);
  return code === 0 ? output.trim() : null;
}

/**
 * Compiles the native module for an architecture; does nothing when sources and compiler are as they were.
 * @param {string} arch as Node names it
 */
async function compile(arch, cargo) {
  const stamp = inRoot('native-gpudirect', 'node', `.${arch}.stamp`);
  const hash = contentHash(sources(), [cargo, installedVersion('@napi-rs/cli')]);
  if (readStamp(stamp) === hash && existsSync(outputFor(arch))) return;
  say(`compiling the native module for ${arch} (a minute or two)`);
  rmSync(stamp, { force: true });
  const env = { ...process.env };
  if (arch !== process.arch) env.CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER ??= 'aarch64-linux-gnu-gcc';
  const napi = inRoot('node_modules', '@napi-rs', 'cli', 'dist', 'cli.js');
  const options = ['--release', '--platform', '--no-js', '--dts', 'index.d.ts', '--strip'];
  // A folder of its own: the CLI sets variables that would make cargo's other builds begin anew.
  const target = ['--target', TARGETS[arch], '--target-dir', inRoot('native-gpudirect', 'target', 'addon')];
  const result = await run(process.execPath, [napi, 'build', ...options, ...target], { cwd: OUTPUT, env });
  if (result.code !== 0) {
    throw new SetupError(
      'the native module does not compile',
      'see the words of cargo above; Rust 1.88 or newer is needed (https://rustup.rs), and the crates registry',
      result.output,
    );
  }
  writeStamp(stamp, hash);
}

/**
 * Builds the native module where it can be built. Where not, os2g works without, and what is missing is said; with
 * OS2G_REQUIRE_NATIVE=1 (as CI sets it) that is an error.
 */
export async function buildNative() {
  if (process.env.OS2G_NATIVE === 'off' || !existsSync(ROOM)) return;
  const required = process.env.OS2G_REQUIRE_NATIVE === '1';
  try {
    if (process.platform !== 'linux' || !(process.arch in TARGETS)) {
      throw new SetupError(
        `there is no native module for ${process.platform} on ${process.arch}`,
        'use Linux',
      );
    }
    const cargo = await cargoVersion();
    if (cargo === null) throw new SetupError('cargo is not on the PATH', 'install Rust: https://rustup.rs');
    await compile(process.arch, cargo);
  } catch (error) {
    if (!(error instanceof SetupError) || required) throw error;
    if (error.output) process.stderr.write(`${error.output.trimEnd()}\n`);
    say(`${error.message}; os2g uses its portable engine`);
    say(`  to mend it: ${error.mend}`);
  }
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const cargo = await cargoVersion();
    if (cargo === null) throw new SetupError('cargo is not on the PATH', 'install Rust: https://rustup.rs');
    const arch = process.argv[2] ?? process.arch;
    if (!(arch in TARGETS))
      throw new SetupError(`there is no target ${arch}`, `name one of ${Object.keys(TARGETS)}`);
    await compile(arch, cargo);
    process.stdout.write(`${outputFor(arch)}\n`);
  });
}
