import { amazonS3 } from './common.js';
import { assumed, cited, type Profile } from './parameter.js';

const FIT = 'fitted (docs/profile-paper.md); plausible from';

/**
 * A machine on which the four numbers of the OS2G paper's abstract come out (doi 10.1145/3676641.3716265). It is one of many such
 * machines: docs/profile-paper.md says what that does and does not show.
 */
export const paper: Profile = {
  name: 'paper',
  summary: 'a machine that is consistent with the four numbers in the abstract of the OS2G paper',
  parts: {
    store: {
      ...amazonS3,
      first_byte_ms: assumed(
        { kind: 'lognormal', median: 1, sigma: 0.5 },
        `${FIT} 0.5 to 5 ms for a store in the same room`,
      ),
      connection_mb_per_s: assumed(
        180,
        `${FIT} 90 MB/s (Amazon S3) to 1 GB/s (one stream on a local network)`,
      ),
    },
    network: {
      gbit_per_s: assumed(25, 'the example of the scenario format; far from the limit at 300 MB/s'),
      rtt_ms: assumed(0.3, 'one switch and two kernels'),
    },
    host: {
      cores: assumed(8, 'the example of the scenario format'),
      memcpy_gb_per_s: assumed(8, 'one core that copies between pinned and pageable memory'),
    },
    dpu: {
      cores: cited(8, 'NVIDIA BlueField-2 DPU data sheet: 8 Armv8 A72 cores'),
      core_speed: assumed(0.4, 'a Cortex-A72 core against a server core'),
      memcpy_gb_per_s: assumed(4, 'one channel of DDR4-3200'),
      memory_mib: assumed(8192, 'half of the 16 GB of a BlueField-2'),
    },
    pcie: {
      dpu_to_host_gb_per_s: assumed(12, 'PCI Express 3.0 x16, or half of 4.0 x16'),
      host_to_gpu_gb_per_s: assumed(12, 'PCI Express 3.0 x16, or half of 4.0 x16'),
      dpu_to_gpu_gb_per_s: assumed(12, 'PCI Express 3.0 x16, or half of 4.0 x16'),
      direct: cited(true, 'the abstract: a direct path from the DPU to the GPU'),
    },
    clients: {
      s3fs: {
        cpu_us_per_request: assumed(425, `${FIT} 300 to 1000 us for each of HEAD and GET`),
        cpu_us_per_mb: assumed(5000, `${FIT} 2 to 10 ms: FUSE hands out pages`),
        concurrency: assumed(8, `${FIT} 4 to 16 loader workers`),
        readahead_parts: assumed(1, 'samples are smaller than a part'),
        part_mb: assumed(8, 'the example of the scenario format'),
        timeout_s: assumed(30, 'the example of the scenario format'),
      },
      s3connector: {
        cpu_us_per_request: assumed(
          975,
          `${FIT} 500 to 1500 us: Python, a native client and the hand-over between processes`,
        ),
        cpu_us_per_mb: assumed(2000, `${FIT} 1 to 4 ms: copies and checksums`),
        workers: assumed(4, 'the example of the scenario format'),
        part_mb: assumed(8, 'the example of the scenario format'),
        timeout_s: assumed(30, 'the example of the scenario format'),
      },
      os2g: {
        cpu_us_per_request: assumed(60, 'an event-driven client: 0.09 to 0.16 ms for each object of 110 KB'),
        cpu_us_per_mb: assumed(400, 'system calls and TCP for one megabyte, without TLS'),
      },
      relay_host: {
        cpu_us_per_request: assumed(15, 'one completion and one call to the GPU driver for each object'),
        cpu_us_per_mb: assumed(20, 'DMA brings the bytes: only descriptors are handled'),
      },
      naive: assumed('s3connector', 'the client whose host CPU the abstract names last'),
    },
    memory_budget_mib: assumed(256, 'the example of the scenario format'),
    training: {
      host_us_per_sample: assumed(
        900,
        `${FIT} 0.5 to 1.5 ms: the training loop, launches of kernels and the optimiser's step, for each sample`,
      ),
    },
  },
};
