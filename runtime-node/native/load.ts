import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageRoot, packageVersion } from '../package-root.js';
import type { NativeModule } from './module.js';

/** The native module, or why there is none. */
export type LoadedNative =
  | { readonly module: NativeModule; readonly file: string }
  | { readonly module: null; readonly why: string; readonly mend: string };

const BUILD = 'install Rust (https://rustup.rs) and run `npm run setup` in a checkout of os2g';

let loaded: LoadedNative | null = null;

/**
 * Finds the native module: the file that OS2G_NATIVE names, the package of this platform, or what a checkout has built.
 * `OS2G_NATIVE=off` does without. Looked for once.
 */
export function loadNative(): LoadedNative {
  loaded ??= find(process.env.OS2G_NATIVE ?? '');
  return loaded;
}

function find(asked: string): LoadedNative {
  if (asked === 'off') {
    return { module: null, why: 'OS2G_NATIVE is off', mend: 'unset OS2G_NATIVE' };
  }
  const platform = platformName();
  if (asked !== '') return load(asked, 'unset OS2G_NATIVE, or name a module of this version');
  if (platform === null) {
    const why = `there is none for ${process.platform} on ${process.arch}`;
    return { module: null, why, mend: 'use Linux on x86-64 or arm64' };
  }
  const built = join(packageRoot, 'native-gpudirect', 'node', `os2g-native.${platform}.node`);
  if (existsSync(built)) return load(built, 'run `npm run setup`');
  const name = `@os2g/native-${platform}`;
  try {
    return load(createRequire(import.meta.url).resolve(name), `install ${name} of the same version`);
  } catch {
    return { module: null, why: `neither ${name} nor a build of the checkout is there`, mend: BUILD };
  }
}

function load(file: string, mend: string): LoadedNative {
  try {
    const module = createRequire(import.meta.url)(file) as NativeModule;
    const version = module.version();
    if (version === packageVersion) return { module, file };
    return { module: null, why: `${file} is of version ${version}, this is ${packageVersion}`, mend };
  } catch (cause) {
    return { module: null, why: `${file} cannot be loaded: ${(cause as Error).message}`, mend };
  }
}

/** As the packages of napi-rs are named; null where none is made. */
function platformName(): string | null {
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) return null;
  return `linux-${process.arch}-${isMusl() ? 'musl' : 'gnu'}`;
}

function isMusl(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime === undefined;
}
