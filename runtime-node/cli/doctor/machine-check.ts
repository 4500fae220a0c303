import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { openFilesLimit } from '../../open-files.js';
import { packageRoot } from '../../package-root.js';
import { DEFAULT_MEMORY_BYTES } from '../../policy/job.js';
import { formatCount, formatMemory } from '../output/numbers.js';
import { findWasmtime, noWasmtime } from '../replay/wasmtime.js';
import { type Check, ok, warn } from './check.js';

/** Sockets of a feed with the preset `os2g`, and room for the rest of the process. */
const WANTED_FILES = 512;

export function checkNode(): Check {
  const { engines } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  // bin/os2g.js refuses an older one before anything else is loaded.
  return ok('node', `${process.version} (${process.platform} ${process.arch}), wanted ${engines.node}`);
}

export function checkLimits(): Check[] {
  const files = openFilesLimit();
  const shown = typeof files === 'number' ? formatCount(files) : (files ?? 'no limit known');
  const enough = typeof files !== 'number' || files >= WANTED_FILES;
  const constrained = process.constrainedMemory() ?? 0;
  const memoryBytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  const memory = `${formatMemory(memoryBytes)}; a feed's default budget is ${formatMemory(DEFAULT_MEMORY_BYTES)}`;
  return [
    enough
      ? ok('limit of open files', shown)
      : warn('limit of open files', `${shown}, wanted ${WANTED_FILES}`, 'raise it with `ulimit -n 4096`'),
    memoryBytes >= 2 * DEFAULT_MEMORY_BYTES
      ? ok('memory', memory)
      : warn('memory', memory, 'give `os2g feed` a smaller --memory'),
    ok('cores', String(availableParallelism())),
  ];
}

export async function checkReplayHosts(env: Readonly<Record<string, string | undefined>>): Promise<Check[]> {
  const found = await findWasmtime(env);
  const way = found?.kind === 'python' ? `the wasmtime package of ${found.python}` : 'the wasmtime command';
  return [
    ok('replay (node, wasi)', 'built into Node'),
    found
      ? ok('replay (wasmtime)', way)
      : warn(
          'replay (wasmtime)',
          'wasmtime was not found; only `os2g replay --host wasmtime` needs it',
          noWasmtime().mend,
        ),
  ];
}
