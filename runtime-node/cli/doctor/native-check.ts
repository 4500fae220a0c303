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
      info('direct path', HOST_RECEIVES),
    ];
  }
  const probes = native.module.probeBackends(cudaLibrary());
  return [
    ...engines,
    ok('engine (native)', `${native.module.version()}, ${native.file}`),
    memory,
    ...probes.map(probeCheck),
    info('direct path', HOST_RECEIVES),
  ];
}

const HOST_RECEIVES =
  "the host's CPU receives every byte, and --direct auto goes on so; past it goes only a DPU, with `os2g serve`, which is not there yet";

/** What a back end is good for, where that is not plain. */
const USES: Readonly<Record<string, string>> = {
  cuda: 'for --landing cuda with the native engine',
  ucx: 'for `os2g serve`, which is not there yet: feed refuses --landing ucx',
};

function probeCheck({ name, works, version, why, mend, details }: NativeProbe): Check {
  const title = `landing (${name})`;
  const parts = [version, why, ...details, USES[name]].filter(Boolean) as string[];
  const said = parts.map((part) => part.replace(/\.$/, '')).join('; ');
  // No GPU, no DPU: that is no fault of the machine.
  return works ? ok(title, said) : info(title, mend === '' ? said : `${said}. To mend it: ${mend}`);
}
