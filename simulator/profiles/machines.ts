import { commonParts } from './common.js';
import { assumed, cited, type Profile } from './parameter.js';

const BF2 = 'NVIDIA BlueField-2 DPU data sheet';
const BF3 = 'NVIDIA BlueField-3 DPU data sheet';
const PCIE4 =
  'PCI Express 4.0 x16: 31.5 GB/s in each direction, less about a fifth for headers and flow control';
const PCIE5 =
  'PCI Express 5.0 x16: 63 GB/s in each direction, less about a fifth for headers and flow control';
const MEMCPY = 'one socket that copies with streaming stores while other cores work';
const WEAK = 'an Arm core of a DPU against a server core at the same work: about';

const server = {
  cores: assumed(32, 'a usual GPU server has 32 cores or more for each two GPUs'),
  memcpy_gb_per_s: assumed(12, MEMCPY),
};

export const bluefield2: Profile = {
  name: 'bluefield2',
  summary: 'a GPU server with a BlueField-2 DPU at 100 Gbit/s, Amazon S3 in the region',
  parts: {
    ...commonParts,
    network: {
      gbit_per_s: cited(100, `${BF2}: two ports of up to 100 Gbit/s`),
      rtt_ms: assumed(0.3, 'within one availability zone'),
    },
    host: server,
    dpu: {
      cores: cited(8, `${BF2}: 8 Armv8 A72 cores`),
      core_speed: assumed(0.4, `${WEAK} 0.4 for a Cortex-A72 at 2.0 to 2.75 GHz`),
      memcpy_gb_per_s: assumed(
        4,
        'one channel of DDR4-3200: 25.6 GB/s of raw bandwidth, of which a copy needs twice its bytes',
      ),
      memory_mib: cited(16384, `${BF2}: 16 GB of on-board DDR4`),
    },
    pcie: {
      dpu_to_host_gb_per_s: cited(25, PCIE4),
      host_to_gpu_gb_per_s: cited(25, PCIE4),
      dpu_to_gpu_gb_per_s: assumed(12, 'peer to peer through one switch; root complexes may give less'),
      direct: assumed(true, 'GPU and DPU under one switch'),
    },
  },
};

export const bluefield3: Profile = {
  name: 'bluefield3',
  summary: 'a GPU server with a BlueField-3 DPU at 400 Gbit/s, Amazon S3 in the region',
  parts: {
    ...commonParts,
    network: {
      gbit_per_s: cited(400, `${BF3}: up to 400 Gbit/s`),
      rtt_ms: assumed(0.3, 'within one availability zone'),
    },
    host: { ...server, cores: assumed(64, 'a usual server for eight GPUs') },
    dpu: {
      cores: cited(16, `${BF3}: 16 Armv8.2+ A78 cores`),
      core_speed: assumed(0.6, `${WEAK} 0.6 for a Cortex-A78`),
      memcpy_gb_per_s: assumed(10, 'two channels of DDR5-5600, of which a copy needs twice its bytes'),
      memory_mib: cited(32768, `${BF3}: 32 GB of on-board DDR5`),
    },
    pcie: {
      dpu_to_host_gb_per_s: cited(50, PCIE5),
      host_to_gpu_gb_per_s: cited(50, PCIE5),
      dpu_to_gpu_gb_per_s: assumed(40, 'peer to peer through one switch'),
      direct: assumed(true, 'GPU and DPU under one switch'),
    },
  },
};

const NO_DPU = 'there is no DPU here: stands in so that its pipelines can be asked for';

export const hostOnly: Profile = {
  name: 'host-only',
  summary:
    'a GPU server with a plain 25 Gbit/s card, Amazon S3 in the region; a DPU that is asked for is like BlueField-2',
  parts: {
    ...commonParts,
    network: {
      gbit_per_s: assumed(25, 'a usual card of a cloud instance with one GPU'),
      rtt_ms: assumed(0.3, 'within one availability zone'),
    },
    host: { ...server, cores: assumed(16, 'a usual cloud instance with one GPU') },
    dpu: {
      cores: assumed(8, NO_DPU),
      core_speed: assumed(0.4, NO_DPU),
      memcpy_gb_per_s: assumed(4, NO_DPU),
      memory_mib: assumed(16384, NO_DPU),
    },
    pcie: {
      dpu_to_host_gb_per_s: cited(25, PCIE4),
      host_to_gpu_gb_per_s: cited(25, PCIE4),
      dpu_to_gpu_gb_per_s: assumed(12, NO_DPU),
      direct: assumed(false, 'without a DPU there is no direct path: os2g equals relay'),
    },
  },
};

export const laptop: Profile = {
  name: 'laptop',
  summary: 'a developer machine and a store on the local network or on the machine itself',
  parts: {
    ...commonParts,
    store: {
      ...commonParts.store,
      first_byte_ms: assumed(
        { kind: 'lognormal', median: 3, sigma: 0.6 },
        'a small store on the same network',
      ),
      connection_mb_per_s: assumed(200, 'one stream on a loopback or a quiet network'),
      total_mb_per_s: assumed(800, 'one disk'),
      requests_per_s: assumed(null, 'small stores have no cap, they get slow'),
    },
    network: {
      gbit_per_s: assumed(1, 'a wired network at home or in an office'),
      rtt_ms: assumed(0.5, 'one switch'),
    },
    host: { cores: assumed(4, 'performance cores of a laptop'), memcpy_gb_per_s: assumed(8, MEMCPY) },
    dpu: {
      cores: assumed(2, NO_DPU),
      core_speed: assumed(0.4, NO_DPU),
      memcpy_gb_per_s: assumed(2, NO_DPU),
      memory_mib: assumed(2048, NO_DPU),
    },
    pcie: {
      dpu_to_host_gb_per_s: assumed(6, 'four lanes of PCI Express 4.0'),
      host_to_gpu_gb_per_s: assumed(12, 'eight lanes of PCI Express 4.0'),
      dpu_to_gpu_gb_per_s: assumed(6, 'four lanes of PCI Express 4.0'),
      direct: assumed(false, 'no peer-to-peer path'),
    },
    memory_budget_mib: assumed(256, 'beside an editor and a browser'),
  },
};
