/** What a code of an error means. docs/errors.md is made from these, and a test holds them against the sources. */
export interface ErrorMeaning {
  readonly what: string;
  /** What to do, in general; the error itself says it with names and values. */
  readonly mend: string;
  /** Whether it was tried again before it was told. */
  readonly retried: string;
}

const NO = 'no';
const OF_READS = '`retry.attempts`';
const OF_BODIES = '`retry.attempts`, at most 4';
const OF_LISTINGS = 'five times';

const meaning = (what: string, mend: string, retried = NO): ErrorMeaning => ({ what, mend, retried });

/** Exit 2: the call or the configuration is wrong, nothing was started. */
export const CONFIG_CODES: Readonly<Record<string, ErrorMeaning>> = {
  bad_call: meaning('an unknown command, option or argument', '`--help` lists them'),
  bad_option: meaning(
    'a value that is none, or out of range; `option` names it, and where it stands',
    'give one of the range that is named',
  ),
  bad_argument: meaning(
    'an argument of an API call that is out of range, such as a sample that the batch does not have',
    'mend the call',
  ),
  unknown_field: meaning(
    'a field of the configuration file that is no option',
    'mend its name, or take it out',
  ),
  bad_file: meaning(
    'a file that was named cannot be read, or is not JSON',
    'mend the path, or the file at the line that is named',
  ),
  bad_output: meaning(
    'a file to write that is in no folder, or would replace something else: [resume.md](resume.md)',
    'name another file',
  ),
  bad_scenario: meaning(
    'a scenario that is none, or contradicts itself; file and field are named',
    'mend the field: [scenario.md](scenario.md)',
  ),
  bad_policy: meaning(
    'a policy file that is none, or of another schema',
    'write it anew with `os2g tune`, or mend the field',
  ),
  bad_journal: meaning(
    'a journal of another search, or none: what differs is named',
    'name another file, or search as it did',
  ),
  bad_manifest: meaning(
    'the manifest is damaged or contradicts itself, with row and column',
    'make it anew with `os2g index`',
  ),
  manifest_not_found: meaning('there is no such manifest', 'check the path'),
  manifest_unreadable: meaning('the file of the manifest cannot be read', 'check its rights and its disk'),
  bad_update: meaning(
    '`--update` of a manifest of another prefix or format, or not in the order of keys',
    'index anew, without `--update`',
  ),
  bad_cursor: meaning('a file that is no cursor', 'resume from one that os2g wrote'),
  cursor_mismatch: meaning(
    'a cursor of another data set, order, seed or global batch; the field and both values are named',
    'resume with what it was written with, or start without it',
  ),
  bad_trace: meaning('a file that is no trace of this version, or holds no whole step', 'record it again'),
  bad_endpoint: meaning(
    'the endpoint is no URL of a store, or no address follows from it',
    'write `http://HOST:PORT` or `https://HOST`',
  ),
  bad_s3_url: meaning('the source is no `s3://bucket/prefix`', 'write it so'),
  unsupported_endpoint: meaning(
    'a bucket that needs what os2g has not: a directory bucket, a multi-region access point',
    'use a bucket or an access point of one region',
  ),
  no_region: meaning('AWS is to be read, and no region is given', '`--region`, `AWS_REGION`, or the profile'),
  no_profile: meaning('the profile stands in neither of the shared files', 'name one that exists'),
  bad_ca_bundle: meaning(
    'the CA bundle cannot be read, or holds no certificate',
    'give a file of PEM certificates',
  ),
  bad_client_certificate: meaning(
    'the client certificate or its key cannot be used',
    'give PEM files that belong together, the key without a passphrase',
  ),
  engine_unavailable: meaning(
    'the engine was asked for by name, and is not here, or cannot do what is asked',
    '`--engine auto` or `portable`; `npm run build:native`',
  ),
  landing_unavailable: meaning(
    'the landing memory was asked for by name, and is not to be had',
    '`--landing auto`; `os2g doctor` says why',
  ),
  direct_unavailable: meaning('`--direct on`, and the host receives the bytes', '`--direct auto`'),
  no_wasmtime: meaning(
    '`replay --host wasmtime`, and wasmtime is not here',
    'install it, or take another host',
  ),
  not_in_this_version: meaning('something that this version does not do', 'see the message'),
  memory_too_large: meaning('a budget above what a process can have', 'lower `--memory`'),
  batches_too_large: meaning(
    'no batch of the data set fits into the budget',
    'raise `--memory`, or lower `--batch-samples`',
  ),
  sample_too_large: meaning('a sample that does not fit into the budget', 'raise `--memory`'),
  not_external: meaning(
    '`feed.request` where the order is not external',
    'open the feed with shuffle `external`',
  ),
  bad_core: meaning('a Wasm file that is no core of this version', '`npm run build:core`'),
};

/** Exit 1: the work failed. */
export const FAILURE_CODES: Readonly<Record<string, ErrorMeaning>> = {
  throttled: meaning(
    'the store asks for fewer requests (503, 429), and served nobody for long',
    'lower `concurrency.max`, or spread the keys over more prefixes',
    'see below',
  ),
  server: meaning(
    'the store failed (5xx, or an error document in place of the object)',
    'try again later; its own log has the request id',
    OF_READS,
  ),
  reset: meaning('the connection was cut', 'look at the network and what stands between', OF_READS),
  stale: meaning(
    'a kept connection was closed before it answered, again on a fresh one',
    'look at the network and what stands between',
    'once at once, then `retry.attempts`',
  ),
  connect: meaning(
    'no connection to the store, or its proxy opens none',
    'check host, port and proxy; `os2g doctor s3://...` tries each step',
    OF_READS,
  ),
  timeout_connect: meaning(
    'no connection within `limits.connect`',
    'check the network, or raise the limit',
    OF_READS,
  ),
  timeout_first_byte: meaning(
    'no answer within `limits.first_byte`',
    'look at the load of the store, or raise the limit',
    OF_READS,
  ),
  timeout_idle: meaning(
    'the body stood still for `limits.idle`',
    'look at the network, or raise the limit',
    OF_READS,
  ),
  timeout_total: meaning(
    'a read was not done within `limits.total`',
    'raise the limit, or lower `split.bytes`',
    OF_READS,
  ),
  short: meaning('a body shorter than asked for', 'look at what stands between; index again', OF_BODIES),
  long: meaning('a body longer than asked for', 'look at what stands between; index again', OF_BODIES),
  range: meaning(
    'another range than asked for, or the whole object',
    'the store or a proxy does not honour ranges',
    OF_BODIES,
  ),
  protocol: meaning(
    'the answer is not HTTP, or not one that was asked for',
    'check host, port and protocol of the endpoint',
    OF_READS,
  ),
  checksum: meaning(
    "the bytes do not have the store's checksum",
    'the object, or the way to it, is damaged: compare with the original',
    OF_BODIES,
  ),
  changed: meaning(
    "another ETag or size than the manifest's: the object was replaced; both are named",
    'index again',
  ),
  not_found: meaning('no such object, or no such bucket', 'check bucket and key; index again'),
  forbidden: meaning(
    'access denied; keys, token or clock are not right; credentials that could not be refreshed',
    'what the message says: credentials, policy, `--requester-pays`, the clock',
  ),
  archived: meaning('the object is archived and not restored', 'restore it, or leave it out'),
  moved: meaning('the bucket is in another region, or elsewhere', 'the `--region` that the message names'),
  refused: meaning('the store, or a proxy, does not take the request', 'check bucket, endpoint and proxy'),
  tls: meaning(
    'TLS failed: an unknown CA, another host name, a client certificate that is asked for',
    '`--ca-bundle`, `AWS_CA_BUNDLE`, `--client-cert`',
  ),
  no_credentials: meaning('no provider gave credentials', 'set them, name a profile, or `--anonymous`'),
  expired: meaning(
    'the credentials have expired, and what came in their place, too',
    'renew them',
    'with refreshed credentials, at most 4',
  ),
  credentials_expired: meaning(
    'the credentials have expired, and their provider gives no new ones',
    'renew them there, and run again from the cursor',
    'one refresh',
  ),
  no_objects: meaning('nothing begins with the prefix', 'check bucket and prefix; case counts'),
  bad_listing: meaning(
    "a page of the listing is no S3 store's, or breaks off",
    'check the endpoint, and what stands between',
    OF_LISTINGS,
  ),
  listing_broken: meaning(
    'a listing that cannot be complete: truncated without a way to go on, or in a circle',
    'report it to the maker of the store; read with a manifest',
  ),
  mixed_formats: meaning(
    'the prefix holds several kinds of data: what was seen is listed',
    'say what a sample is with `--format`, or give the prefix of one kind',
  ),
  no_samples: meaning(
    'nothing under the prefix holds a sample of the format',
    'check the prefix, or name another format',
  ),
  bad_shard: meaning(
    'an object is not what its format says: key and byte are named',
    'write or upload it again, or leave it out of the prefix',
  ),
  bad_index: meaning(
    'a list of shards or samples is none, or disagrees with what is in the bucket',
    'write it again with the tool that made the data set',
  ),
  unsupported_data: meaning(
    'data that is whole, and of a kind that is not read: compressed, sparse',
    'store it as the message says',
  ),
  timeout: meaning(
    'a listing or head request got no answer in time',
    'check the endpoint and the network',
    'three times',
  ),
  too_many_skips: meaning(
    'more samples failed than `--max-skips` allows, all epochs of the run together, pads not counted',
    'mend the last failure, which is named, or raise the limit',
  ),
  batch_too_large: meaning(
    'a batch does not fit in landing memory',
    'raise `--memory`, or lower `--batch-samples`',
  ),
  cursor_write: meaning('the cursor could not be written: a full disk', 'make room, and resume'),
  audit_write: meaning('the audit could not be written: a full disk', 'make room, and resume'),
  trace_write: meaning('the trace could not be written: a full disk', 'make room, and run again'),
  write_failed: meaning('a file could not be written: a full disk', 'make room, and run again'),
  aborted: meaning(
    'ended by its user (exit 130 for SIGINT, 143 for SIGTERM)',
    'start it again, a feed from its cursor',
  ),
  replay_failed: meaning('a helper process of `replay` did not do its work', 'see the message'),
  demo_store: meaning('the store of `demo` did not do its work', 'see the message'),
  cancelled: meaning(
    'a defect of os2g: a read was cancelled that was wanted',
    'report it, with what `--debug` prints',
  ),
  transfer: meaning(
    'bytes could not be moved to where they land',
    'see the message; `os2g doctor` tries each back end',
    OF_READS,
  ),
  core_error: meaning('a defect of os2g: the core ended the run', 'report it, with what `--debug` prints'),
  core_trap: meaning('a defect of os2g: the core trapped', 'report it, with `--trace` if you can'),
  internal: meaning('a defect of os2g', 'report it, with what `--debug` prints'),
  wrong_bytes: meaning('the demo found a defect of os2g: bytes that are not the store’s', 'report it'),
  repeated_sample: meaning('the demo found a defect of os2g: a sample came twice', 'report it'),
  lost_sample: meaning('the demo found a defect of os2g: a sample did not come', 'report it'),
};

/** Thrown by the API only. */
export const API_CODES: Readonly<Record<string, ErrorMeaning>> = {
  next_pending: meaning('`next()` while another one waits', 'await the one before'),
  feed_closed: meaning('`next()` after `close()`', 'open a feed'),
  batch_released: meaning('a batch was used after its release', 'copy what is needed before'),
  sample_skipped: meaning('the bytes of a hole were asked for', 'ask `skipped(i)` first'),
  bad_row: meaning('`feed.request`: a row that is none', 'give one of the manifest'),
  lookahead_full: meaning('`feed.request`: too many rows ahead', 'await `next()` first'),
  order_ended: meaning('`feed.request` after the end', 'request before it'),
};
