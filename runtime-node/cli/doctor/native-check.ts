import { cudaLibrary } from '../../landing/cuda.js';
import { loadNative } from '../../native/load.js';
import type { NativeProbe } from '../../native/module.js';
import { type Check, info, ok, warn } from './check.js';

/** The engines, the memory that batches can land in, and the direct path: what is here, and where not, why. */
export function checkNative(): Check[] {
  const native = loadNative();
  const engines = [ok('engine (portable)', 'built in')];
  const memory = ok('landing (memory)', "the process's own memory");
  if (native.module === null) {
    const mend = `${native.mend}; until then --engine auto takes the portable one`;
    return [
      ...engines,
      warn('engine (native)', native.why, mend),
      memory,
      info('landing (shm, cuda, ucx)', 'they need the native module: --landing auto takes memory'),
      info('direct path', `${HOST_RECEIVES}; it needs the native module`),
    ];
  }
  const probes = native.module.probeBackends(cudaLibrary());
  const direct = probes.filter(({ works, name }) => works && name !== 'shm').map(({ name }) => name);
  return [
    ...engines,
    ok('engine (native)', `${native.module.version()}, ${native.file}`),
    memory,
    ...probes.map(probeCheck),
    info(
      'direct path',
      direct.length === 0
        ? HOST_RECEIVES
        : `${HOST_RECEIVES}, unless a trainer's GPU is reached by ${direct.join(' or ')}`,
    ),
  ];
}

const HOST_RECEIVES = "the host's CPU receives every byte, and --direct auto goes on so";

function probeCheck({ name, works, version, why, mend, details }: NativeProbe): Check {
  const title = `landing (${name})`;
  const said = [version, why, ...details].filter((part) => part !== null && part !== '').join('; ');
  // No GPU, no DPU: that is no fault of the machine.
  return works ? ok(title, said) : info(title, mend === '' ? said : `${said} To mend it: ${mend}`);
}
