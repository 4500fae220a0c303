import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../errors.js';
import { packageRoot } from '../../package-root.js';
import { runChild } from './child.js';

/** A way to run wasmtime: its own command, or its Python package. */
export type Wasmtime = { readonly kind: 'command' } | { readonly kind: 'python'; readonly python: string };

/** Interpreters that may have the package, the one that the caller named first. */
function pythons(env: Readonly<Record<string, string | undefined>>): string[] {
  const own = join(packageRoot, '.venv', 'bin', 'python');
  return [...(env.OS2G_PYTHON ? [env.OS2G_PYTHON] : []), ...(existsSync(own) ? [own] : []), 'python3'];
}

/** The first way that works here, or null. */
export async function findWasmtime(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Wasmtime | null> {
  if ((await runChild('wasmtime', ['--version'])).code === 0) return { kind: 'command' };
  for (const python of pythons(env)) {
    if ((await runChild(python, ['-c', 'import wasmtime'])).code === 0) return { kind: 'python', python };
  }
  return null;
}

export function noWasmtime(): ConfigError {
  return new ConfigError(
    'no_wasmtime',
    'wasmtime is neither a command on the PATH nor a package of a Python that was found',
    'install the wasmtime command, or `pip install wasmtime` and name that Python in OS2G_PYTHON',
    { option: 'host' },
  );
}

/** Command and arguments that run a module over a trace; the trace is standard input where `stdin` is true. */
export function wasmtimeCall(
  found: Wasmtime,
  module: string,
  trace: string,
): { command: string; args: string[]; stdin: boolean } {
  if (found.kind === 'command') return { command: 'wasmtime', args: ['run', module], stdin: true };
  const script = join(packageRoot, 'bin', 'wasmtime_host.py');
  return { command: found.python, args: [script, module, trace], stdin: false };
}
