import type { Scenario } from '../scenario/types.js';
import { assumed, cited, type Documented, type Profile } from './parameter.js';

const S3_GUIDE = 'Amazon S3 User Guide, "Best practices design patterns: optimizing Amazon S3 performance"';

/** Amazon S3 in the same region, as its documentation describes it. */
export const amazonS3: Documented<Scenario['store']> = {
  first_byte_ms: assumed(
    { kind: 'lognormal', median: 20, sigma: 0.5 },
    `a warm bucket in the same region; ${S3_GUIDE} gives 100 to 200 ms for small objects as what to expect`,
  ),
  slow_tail: {
    share: assumed(
      0.01,
      'one request in a hundred is slow: the percentile that services are usually watched at',
    ),
    factor: assumed(
      10,
      'a slow request takes ten times as long; the reason why S3 clients are told to retry slow requests',
    ),
  },
  connection_mb_per_s: cited(90, `${S3_GUIDE}: about 85 to 90 MB/s for one connection`),
  total_mb_per_s: assumed(null, 'a bucket of this size is not limited by bytes'),
  requests_per_s: cited(5500, `${S3_GUIDE}: at least 5,500 GET or HEAD a second for each partitioned prefix`),
  over_limit: cited('503', `${S3_GUIDE}: 503 Slow Down while a prefix is being partitioned`),
  error_share: assumed(0, 'errors are what a scenario is about, not what a machine is like'),
  hang_share: assumed(0, 'as error_share'),
};

const S3FS_SOURCE =
  'a read through FUSE crosses the kernel twice and is signed, checked and cached by the client; s3fs reads of 110 KB objects were of the order of 2 ms of CPU on a server core';
const CONNECTOR_SOURCE =
  'Python, a native client and the copy between them; of the order of 0.6 to 0.8 ms of CPU for each object of 110 KB on a server core';

/** What the clients cost where no fit says otherwise; orders of magnitude from a prototype on one shared machine. */
export const clientCosts: Documented<Scenario['clients']> = {
  s3fs: {
    cpu_us_per_request: assumed(
      700,
      `${S3FS_SOURCE}; half of it for each of HEAD and GET, the rest by bytes`,
    ),
    cpu_us_per_mb: assumed(5000, `${S3FS_SOURCE}; 4 KiB pages through FUSE`),
    concurrency: assumed(8, 'as many loader workers as the host has cores'),
    readahead_parts: assumed(1, 'samples are smaller than a part'),
    part_mb: cited(10, 's3fs-fuse manual page: multipart_size, default 10 MB'),
    timeout_s: cited(120, 's3fs-fuse manual page: readwrite_timeout, default 120 s'),
  },
  s3connector: {
    cpu_us_per_request: assumed(450, CONNECTOR_SOURCE),
    cpu_us_per_mb: assumed(2000, CONNECTOR_SOURCE),
    workers: assumed(8, 'as many loader workers as the host has cores'),
    part_mb: cited(8, 's3torchconnector: S3ClientConfig.part_size, default 8 MiB, here in decimal'),
    timeout_s: assumed(30, 'its native client ends requests that stay silent; the limit is not documented'),
  },
  os2g: {
    cpu_us_per_request: assumed(
      60,
      'a plain event-driven client that receives in place: 0.09 to 0.16 ms for each object of 110 KB',
    ),
    cpu_us_per_mb: assumed(400, 'system calls and TCP for one megabyte, without TLS'),
  },
  relay_host: {
    cpu_us_per_request: assumed(15, 'one completion and one call to the GPU driver for each object'),
    cpu_us_per_mb: assumed(20, 'DMA brings the bytes: only descriptors are handled'),
  },
  naive: assumed('s3connector', 'the faster of the two peers on most machines'),
};

const NO_CPU_DECODE = 'tensors, or pictures that the GPU decodes: the host only steers';

/** Parts that most profiles share. */
export const commonParts = {
  store: amazonS3,
  clients: clientCosts,
  memory_budget_mib: assumed(1024, 'a small share of a GPU server'),
  training: { host_us_per_sample: assumed(0, NO_CPU_DECODE) },
} satisfies Partial<Profile['parts']>;
