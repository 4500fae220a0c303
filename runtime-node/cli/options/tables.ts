import { PROFILES } from '../../../simulator/profiles/index.js';
import { PIPELINE_NAMES } from '../../../simulator/scenario/types.js';
import { FORMAT_NAMES } from '../../formats/format.js';
import { DEFAULT_MAX_SKIPS, DEFAULT_MEMORY_BYTES, jobRange, ON_ERRORS, TAILS } from '../../policy/job.js';
import { PRESET_NAMES } from '../../policy/settings.js';
import { bytes, choice, count, durationNs, flag, list, seed, text, textOr, unset } from './kinds.js';
import { settings } from './settings.js';

const MAX_COUNT = 2 ** 31 - 1;
const HOUR_NS = 3600e9;
export const DEFAULT_BATCH_SAMPLES = 64;
const OR_CURSOR = "with --resume the cursor's";

/** The range that the core's configuration has for a number of the job. */
function rangeOf(option: string): { min: number; max: number } {
  const range = jobRange(option);
  if (!range) throw new Error(`no range for ${option}`);
  return range;
}

/** With every command. */
export const COMMON_OPTIONS = {
  json: flag({ meaning: 'print one JSON document on standard output and nothing else there' }),
  progress: choice(['auto', 'always', 'never'], 'auto', {
    meaning: 'progress on standard error; auto: only on a terminal',
  }),
  logLevel: choice(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info', {
    placeholder: 'level',
    meaning: 'least level of log lines on standard error: trace, debug, info, warn, error or silent',
  }),
  logFormat: choice(['text', 'json'], 'text', { meaning: 'log lines for people or for programs' }),
  debug: flag({ meaning: 'show stack traces' }),
  config: text('file', { meaning: 'JSON file with options by name; flags and OS2G_* variables win' }),
};

/** With every command that reads a store. */
export const S3_OPTIONS = {
  endpoint: text('url', {
    meaning: 'S3 endpoint; default: AWS_ENDPOINT_URL_S3, shared files, or AWS itself',
  }),
  region: text('name', { meaning: 'region; default: AWS_REGION or the profile' }),
  profile: text('name', {
    meaning: 'profile of the shared AWS files, with its endpoint, region and CA bundle; default: AWS_PROFILE',
  }),
  anonymous: flag({ meaning: 'no credentials: a public bucket' }),
  requesterPays: flag({ meaning: 'accept the charges of a requester-pays bucket' }),
  pathStyle: flag({ meaning: 'bucket in the path; found out for IP addresses, localhost and dotted names' }),
  caBundle: text('file', {
    meaning:
      'PEM file with the private CA of the endpoint; default: AWS_CA_BUNDLE or ca_bundle of the profile',
  }),
  clientCert: text('file', {
    meaning: 'PEM certificate for a store that asks its clients for one (mutual TLS); portable engine only',
  }),
  clientKey: text('file', {
    meaning: 'PEM private key of --client-cert, without a passphrase; default: it stands in the same file',
  }),
};

const SAMPLE_IS =
  'what a sample is: objects: one object; tar: members of one name (WebDataset); mds: one row of a shard; parquet: one row of a list, a range of another object; npy: one tensor; auto: found out from the keys, and said';

export const INDEX_OPTIONS = {
  output: text('file', {
    short: 'o',
    meaning: 'the manifest to write; an existing file is replaced when the new one is whole',
  }),
  format: choice(FORMAT_NAMES, 'auto', { meaning: SAMPLE_IS }),
  imageSize: flag({
    meaning:
      'read width and height of JPEG and PNG pictures: 1 KiB or a little more of each sample, by a request of its own; null where there is no picture, and counted',
  }),
  concurrency: count({ min: 1, max: 256 }, 16, {
    meaning: 'objects that are read at one time, where a format needs more than the listing',
  }),
  update: flag({
    meaning:
      'bring the manifest of --output up to date: objects whose ETag and size are as they were are not read again',
  }),
};

export const FEED_OPTIONS = {
  manifest: text('file', { meaning: 'the data set as a manifest, instead of s3://bucket/prefix' }),
  format: choice(FORMAT_NAMES, 'auto', { meaning: `${SAMPLE_IS}; for s3://bucket/prefix` }),
  bucket: text('name', { meaning: 'bucket of a manifest that does not name it' }),
  batchSamples: unset(
    count(rangeOf('batch-samples'), DEFAULT_BATCH_SAMPLES, { meaning: 'samples of a batch, for each rank' }),
    `${DEFAULT_BATCH_SAMPLES}, ${OR_CURSOR}`,
  ),
  epochs: unset(
    count(rangeOf('epochs'), 1, { meaning: 'epochs of the whole run, also when it resumes' }),
    `1, ${OR_CURSOR}`,
  ),
  seed: unset(seed({ meaning: 'seed of the order' }), `0, ${OR_CURSOR}`),
  shuffle: unset(
    choice(['none', 'sample', 'block'], 'sample', { meaning: 'order of an epoch' }),
    `sample, ${OR_CURSOR}`,
  ),
  tail: unset(
    choice(TAILS, 'drop', { meaning: 'what becomes of the last, short batch' }),
    `drop, ${OR_CURSOR}`,
  ),
  rank: count(rangeOf('rank'), 0, { meaning: 'which share of each global batch this process reads' }),
  worldSize: count(rangeOf('world-size'), 1, { meaning: 'ranks that share each global batch' }),
  policy: textOr('name|file', 'os2g', {
    meaning: `preset (${PRESET_NAMES.join(', ')}) or policy file (.json)`,
  }),
  set: settings('change a setting of the policy; --help-settings prints all'),
  memory: bytes(rangeOf('memory'), DEFAULT_MEMORY_BYTES, {
    meaning:
      'budget of landing and staging memory together; a batch must fit into what staging.share (1/16 with the policy os2g) leaves of it',
  }),
  landing: choice(['auto', 'memory', 'shm', 'cuda', 'ucx'], 'auto', {
    meaning:
      'where batches land: memory of the process itself, shared memory (shm), or a GPU (cuda), the last two with the native module; ucx needs os2g serve, which is not there yet; auto: shm with the native engine, else memory',
  }),
  direct: choice(['auto', 'on', 'off'], 'auto', {
    meaning: 'whether the host CPU is to be kept out of the path',
  }),
  stepTime: durationNs({ min: 0, max: 24 * HOUR_NS }, 0, {
    meaning:
      'emulated compute of one batch; gpu_busy_share is its part of the time since the first batch was asked for',
    defaultText: 'none',
  }),
  onError: choice(ON_ERRORS, 'fail', {
    meaning: 'when a sample cannot be read: end the run, or leave a hole',
  }),
  maxSkips: unset(
    count(rangeOf('max-skips'), DEFAULT_MAX_SKIPS, {
      meaning:
        'most samples to skip under --on-error skip, all epochs of the run together, also when it resumes, pads not counted; one more ends the run',
    }),
    String(DEFAULT_MAX_SKIPS),
  ),
  stopAfterBatches: unset(
    count({ min: 1, max: MAX_COUNT }, 1, { meaning: 'end when this process delivered so many' }),
  ),
  cursorOut: text('file', {
    meaning:
      "keep the cursor of what was consumed in this file; another run's cursor in it is kept as FILE.previous",
  }),
  resume: text('file', {
    meaning:
      'go on from the cursor in this file; if it is the file of --cursor-out and not there yet, start at the beginning',
  }),
  trace: text('file', {
    meaning: 'record the events of the core, for `os2g replay`; replaces a trace, and no other file',
  }),
  audit: text('file', {
    meaning:
      'write every delivered sample with its SHA-256, one JSON line a batch; replaces an audit (with --resume adds to it), and no other file',
  }),
  engine: choice(['auto', 'native', 'portable'], 'auto', {
    meaning: 'GET engine; auto: the native one where the module is there',
  }),
  verify: choice(['size', 'etag', 'checksum'], 'etag', {
    meaning: "how answers are checked; checksum also asks for the store's own",
  }),
  helpSettings: flag({
    meaning: 'print every setting of the policy with range, defaults, unit and meaning, and end',
  }),
};

export const SIMULATE_OPTIONS = {
  profile: text('name', {
    meaning: `machine, store and client costs that fill in what the scenario leaves open (${PROFILES.map(({ name }) => name).join(', ')})`,
    defaultText: "the scenario's, else paper",
  }),
  pipeline: list('name', {
    meaning: `pipelines to run (${PIPELINE_NAMES.join(', ')})`,
    defaultText: "the scenario's",
  }),
  policy: text('name|file', {
    meaning: `preset (${PRESET_NAMES.join(', ')}) or policy file (.json) instead of the scenario's`,
    defaultText: "the scenario's",
  }),
  set: settings('change a setting of the policy; `os2g feed --help-settings` prints all'),
  nodes: unset(
    count({ min: 1, max: 65_536 }, 1, {
      meaning: 'nodes that share the store, each with the GPUs of the scenario',
    }),
    "the scenario's",
  ),
  seed: unset(
    count({ min: 0, max: Number.MAX_SAFE_INTEGER }, 0, { meaning: 'seed of the order and of all draws' }),
    "the scenario's",
  ),
  trace: text('file', { meaning: 'record the events of the core of one pipeline, for `os2g replay`' }),
  timeline: text('file', { meaning: 'write a timeline that https://ui.perfetto.dev opens' }),
  report: text('file', { meaning: 'write an HTML page with charts and every assumption; it loads nothing' }),
};

export const REPLAY_OPTIONS = {
  host: choice(['node', 'wasi', 'wasmtime'], 'node', {
    meaning:
      'what runs the WASI build of the core; wasmtime is the command, or the package of the Python that OS2G_PYTHON names',
  }),
};
