// The border between the core and its host, in one place: AssemblyScript compiles this file into the
// core and TypeScript imports it as it is, so it holds plain numbers only. Positions inside a record count 32-bit
// words; a field wider than 32 bits is an f64 that holds a whole number (exact to 2^53) at an even word.

export const ABI_VERSION = 1;

// ---- memory map (bytes) -------------------------------------------------------------------------
export const RECORD_BYTES = 64;
export const RECORD_WORDS = 16;
export const HEADER_OFFSET = 1024;
export const HEADER_BYTES = 1024;
export const CONFIG_OFFSET = 2048;
export const CONFIG_SLOTS = 128; // f64 each
export const EVENT_RING_OFFSET = 4096;
export const EVENT_RING_RECORDS = 4096; // power of two; also the most events that one step takes
export const ACTION_RING_OFFSET = 266240; // EVENT_RING_OFFSET + EVENT_RING_RECORDS * RECORD_BYTES
export const ACTION_RING_RECORDS = 8192; // power of two; also the most actions that one step emits
export const TABLES_OFFSET = 790528; // ACTION_RING_OFFSET + ACTION_RING_RECORDS * RECORD_BYTES

// ---- capacities ---------------------------------------------------------------------------------
export const MAX_CONSUMERS = 16;
export const MAX_BATCHES = 4096; // open batches, all consumers together
export const MAX_SAMPLES = 131072; // samples of open batches, all consumers together
export const MAX_REQUESTS = 16384; // parts in flight or waiting for a retry

// ---- header: u32 words --------------------------------------------------------------------------
export const HEAD_ABI = 0;
export const HEAD_EVENT_HEAD = 1; // free-running; the core moves it
export const HEAD_EVENT_TAIL = 2; // free-running; the host moves it before step
export const HEAD_ACTION_HEAD = 3; // free-running; the host moves it after reading
export const HEAD_ACTION_TAIL = 4; // free-running; the core moves it
export const HEAD_FLAGS = 5;
export const HEAD_ERROR = 6; // ERROR_*
export const HEAD_ERROR_DETAIL = 7; // the CONFIG_* slot, record kind, ... that the error is about
export const HEAD_HASH_LO = 8;
export const HEAD_HASH_HI = 9;
// header: f64 values, counted in 64-bit units from the start of the header
export const HEAD_DEADLINE_NS = 8; // when the core wants to be stepped though nothing happens; Infinity: never
export const HEAD_NOW_NS = 9;
export const HEAD_COUNTERS = 16; // first of the COUNTER_* values

export const FLAG_MORE = 1; // work was left for lack of ring space: drain the actions and step again
export const FLAG_STOPPED = 2;
export const FLAG_FAILED = 4;
export const FLAG_ENDED = 8; // every consumer has been given its last batch

// ---- counters (f64, from HEAD_COUNTERS) ---------------------------------------------------------
export const COUNTER_EVENTS = 0;
export const COUNTER_ACTIONS = 1;
export const COUNTER_SAMPLES = 2; // delivered, pads and holes excluded
export const COUNTER_PADDED = 3;
export const COUNTER_SKIPPED = 4;
export const COUNTER_BATCHES = 5;
export const COUNTER_BYTES = 6; // delivered
export const COUNTER_BYTES_FETCHED = 7; // received by every attempt, waste included
export const COUNTER_REQUESTS = 8; // FETCH actions: retries and hedges included
export const COUNTER_RETRIES = 9;
export const COUNTER_HEDGES = 10;
export const COUNTER_HEDGE_WINS = 11;
export const COUNTER_THROTTLES = 12;
export const COUNTER_MEMORY_BYTES = 13; // in use now: landing and staging
export const COUNTER_MEMORY_PEAK_BYTES = 14;
export const COUNTER_WINDOW_BYTES = 15; // the window now, largest of the consumers
export const COUNTER_CONCURRENCY_LIMIT = 16;
export const COUNTER_IN_FLIGHT = 17;
export const COUNTER_READY_BATCHES = 18; // complete and not yet consumed, all consumers
export const COUNTER_LATENCY_P50_NS = 19; // to the first byte
export const COUNTER_LATENCY_P95_NS = 20;
export const COUNTER_RATE_LIMIT = 21; // requests per second; 0: not limited
export const COUNTER_STALL_NS = 24; // first of STALL_CAUSES values
export const COUNTER_COUNT = 40;

export const STALL_START = 0;
export const STALL_STORE = 1;
export const STALL_THROTTLE = 2;
export const STALL_NETWORK = 3;
export const STALL_CLIENT_CPU = 4;
export const STALL_HOST_WORK = 5;
export const STALL_MEMORY = 6;
export const STALL_TRANSFER = 7;
export const STALL_BARRIER = 8;
export const STALL_CAUSES = 9;

// ---- configuration (f64 slots) ------------------------------------------------------------------
// The job: what is to be read. Not policy.
export const CONFIG_SAMPLES = 0; // rows of the manifest, at least 1
export const CONFIG_BATCH_SAMPLES = 1; // per rank
export const CONFIG_WORLD_SIZE = 2;
export const CONFIG_CONSUMERS = 3; // ranks FIRST_RANK .. FIRST_RANK + CONSUMERS - 1 are fed by this core
export const CONFIG_FIRST_RANK = 4;
export const CONFIG_EPOCHS = 5; // of the whole run, also when it resumes
export const CONFIG_START_EPOCH = 6;
export const CONFIG_START_BATCH = 7; // the first global batch to deliver
export const CONFIG_SEED_LO = 8; // low 32 bits
export const CONFIG_SEED_HI = 9;
export const CONFIG_ORDER = 10; // ORDER_*
export const CONFIG_TAIL = 11; // TAIL_*
export const CONFIG_MEMORY_BYTES = 12; // budget of landing and staging together
export const CONFIG_STAGED = 13; // 1: receive into staging and PLACE; 0: receive in place
export const CONFIG_ON_ERROR = 14; // ON_ERROR_*
export const CONFIG_MAX_SKIPS = 15;
// The policy: one slot for each setting of runtime-node/settings.ts that the core reads.
export const CONFIG_WINDOW_MODE = 32;
export const CONFIG_WINDOW_BYTES = 33;
export const CONFIG_WINDOW_SAMPLES = 34;
export const CONFIG_WINDOW_INITIAL_BYTES = 35;
export const CONFIG_CONCURRENCY_MODE = 36;
export const CONFIG_CONCURRENCY_MAX = 37;
export const CONFIG_CONCURRENCY_INITIAL = 38;
export const CONFIG_CONCURRENCY_BACKOFF = 39; // factor at a 503, 0..1
export const CONFIG_CONCURRENCY_GAIN = 40; // relative gain of rate that justifies climbing on
export const CONFIG_SPLIT_BYTES = 41;
export const CONFIG_MERGE_GAP_BYTES = 42;
export const CONFIG_MERGE_BYTES = 43; // largest merged range; 0: never merge
export const CONFIG_RETRY_ATTEMPTS = 44; // the first one included
export const CONFIG_RETRY_BUDGET = 45; // retries allowed as a share of requests
export const CONFIG_RETRY_BASE_NS = 46;
export const CONFIG_RETRY_CAP_NS = 47;
export const CONFIG_HEDGE_SHARE = 48; // hedges allowed as a share of requests; 0: off
export const CONFIG_HEDGE_QUANTILE = 49; // of the first-byte latency
export const CONFIG_HEDGE_MIN_NS = 50;
export const CONFIG_STAGING_SHARE = 51; // of the memory budget
export const CONFIG_ALIGN_BYTES = 52; // of each range inside a batch
export const CONFIG_BLOCK_SAMPLES = 53;
export const CONFIG_GROUP_BLOCKS = 54;
export const CONFIG_LOOKAHEAD_SAMPLES = 55; // external order: positions held ahead of delivery
export const CONFIG_RATE_MODE = 56; // pacing after 503: 0 off, 1 adaptive

export const ORDER_NONE = 0;
export const ORDER_SAMPLE = 1;
export const ORDER_BLOCK = 2;
export const ORDER_EXTERNAL = 3;
export const TAIL_DROP = 0;
export const TAIL_PAD = 1;
export const TAIL_PARTIAL = 2;
export const MODE_FIXED = 0;
export const MODE_ADAPTIVE = 1;
export const ON_ERROR_FAIL = 0;
export const ON_ERROR_SKIP = 1;

// ---- events: host -> core -----------------------------------------------------------------------
// word 0 kind, word 1 consumer, then as listed; D* are f64 positions (64-bit units)
export const EVENT_RESOLVED = 1; // a sample's place: id, object handle, offset, length
export const EVENT_FIRST_BYTE = 2; // id, attempt
export const EVENT_FETCHED = 3; // id, attempt, bytes
export const EVENT_FETCH_FAILED = 4; // id, attempt, class, status, retry-after, bytes
export const EVENT_PLACED = 5; // id, attempt
export const EVENT_PLACE_FAILED = 6; // id, attempt, class
export const EVENT_CONSUMED = 7; // consumer, epoch, batch
export const EVENT_WAITING = 8; // consumer
export const EVENT_REQUESTED = 9; // consumer, flags, row (external order)
export const EVENT_LIMIT = 10; // bytes
export const EVENT_STOP = 11;

// ---- traces (docs/trace-format.md): a header, then records ---------------------------------------
export const TRACE_CONFIG_OFFSET = 64;
export const TRACE_HEADER_BYTES = 1088; // TRACE_CONFIG_OFFSET + CONFIG_SLOTS * 8
export const TRACE_STEP = 255; // opens each step: number of events that follow, hash before, D_TIME_NS: now
export const TRACE_END = 254; // closes a trace: the run hash
export const TRACE_W_COUNT = 1;
export const TRACE_W_HASH_LO = 2;
export const TRACE_W_HASH_HI = 3;

export const W_KIND = 0;
export const W_CONSUMER = 1;
export const W_ID = 2; // request of FETCH, CANCEL, PLACE, ...; sample slot of RESOLVE and RESOLVED
export const W_ATTEMPT = 3;
export const W_FLAGS = 3; // where a record has no attempt
export const W_EPOCH = 4;
export const W_BATCH = 5;
export const D_TIME_NS = 7; // every event: when it happened, at most the step's now

export const RESOLVED_W_OBJECT = 3; // equal for samples of one object; only equality counts
export const RESOLVED_D_OFFSET = 2;
export const RESOLVED_D_LENGTH = 3;
export const FETCHED_D_BYTES = 2;
export const FAILED_W_CLASS = 4;
export const FAILED_W_STATUS = 5;
export const FAILED_D_RETRY_AFTER_NS = 3; // 0: the store said nothing
export const FAILED_D_BYTES = 4;
export const REQUESTED_W_FLAGS = 3;
export const REQUESTED_D_ROW = 2;
export const REQUESTED_CLOSES_BATCH = 1; // this position is the last of its batch
export const REQUESTED_ENDS = 2; // no position follows; the row does not count
export const LIMIT_D_BYTES = 2;

// Classes of failure. What is retried is in assembly/retry.ts.
export const CLASS_NONE = 0;
export const CLASS_THROTTLED = 1; // 503 SlowDown, 429
export const CLASS_SERVER = 2; // 500, 502, 504, other 5xx; an error document inside a 200
export const CLASS_RESET = 3; // connection cut
export const CLASS_STALE = 4; // kept-alive connection closed before the first byte of an answer
export const CLASS_CONNECT = 5; // refused, unreachable, name not found
export const CLASS_TIMEOUT_CONNECT = 6;
export const CLASS_TIMEOUT_FIRST_BYTE = 7;
export const CLASS_TIMEOUT_IDLE = 8;
export const CLASS_TIMEOUT_TOTAL = 9;
export const CLASS_SHORT = 10; // body shorter than asked
export const CLASS_LONG = 11; // body longer than asked
export const CLASS_RANGE = 12; // Range ignored, or another range answered
export const CLASS_CHECKSUM = 13;
export const CLASS_EXPIRED = 14; // credentials; retried after a refresh
export const CLASS_CANCELLED = 15;
export const CLASS_NOT_FOUND = 16;
export const CLASS_FORBIDDEN = 17;
export const CLASS_CHANGED = 18; // another ETag or size than the manifest's
export const CLASS_MOVED = 19; // another region or endpoint
export const CLASS_ARCHIVED = 20;
export const CLASS_REFUSED = 21; // other 4xx
export const CLASS_TLS = 22;
export const CLASS_PROTOCOL = 23; // not an HTTP answer
export const CLASS_TRANSFER = 24; // PLACE failed
export const CLASS_INTERNAL = 25; // a defect on the host's side
export const CLASS_COUNT = 26;

// ---- actions: core -> host ----------------------------------------------------------------------
export const ACTION_RESOLVE = 1; // tell me the place of this row
export const ACTION_FETCH = 2; // read this range into this memory
export const ACTION_CANCEL = 3; // end this attempt; its FETCHED or FETCH_FAILED is still awaited
export const ACTION_PLACE = 4; // move from staging to landing
export const ACTION_DELIVER = 5; // a batch is complete; its SAMPLE records follow at once
export const ACTION_SAMPLE = 6;
export const ACTION_SKIP = 7; // a sample is given up; it is a hole in its batch
export const ACTION_FAIL = 8; // the run is over
export const ACTION_END = 9; // the consumer was given its last batch

export const RESOLVE_D_ROW = 3;
export const FETCH_W_FLAGS = 4;
export const FETCH_D_ROW = 3; // a row of the object: names key and ETag
export const FETCH_D_OFFSET = 4;
export const FETCH_D_LENGTH = 5;
export const FETCH_D_TARGET = 6; // offset in the consumer's landing memory, or in staging
export const FETCH_TO_STAGING = 1;
export const FETCH_IS_HEDGE = 2;
export const PLACE_D_ROW = 3;
export const PLACE_D_FROM = 4; // offset in staging
export const PLACE_D_LENGTH = 5;
export const PLACE_D_TARGET = 6; // offset in the consumer's landing memory
export const DELIVER_W_SAMPLES = 2; // SAMPLE records that follow: pads and holes included
export const DELIVER_W_PADS = 3;
export const DELIVER_D_OFFSET = 3; // where the batch begins in landing memory
export const DELIVER_D_LENGTH = 4; // bytes of landing memory that it takes
export const DELIVER_D_BYTES = 5; // sum of its samples' lengths, holes excluded
export const SAMPLE_W_INDEX = 2; // position in the batch
export const SAMPLE_W_FLAGS = 3;
export const SAMPLE_D_ROW = 3;
export const SAMPLE_D_OFFSET = 4; // in the object
export const SAMPLE_D_LENGTH = 5;
export const SAMPLE_D_TARGET = 6; // offset in the consumer's landing memory
export const SAMPLE_IS_PAD = 1;
export const SAMPLE_IS_SKIPPED = 2;
export const SKIP_W_CLASS = 3;
export const SKIP_D_ROW = 3;
export const SKIP_D_INDEX = 4; // position in the batch
export const FAIL_W_CODE = 3; // ERROR_*
export const FAIL_W_CLASS = 6; // of ERROR_FETCH and ERROR_PLACE
export const FAIL_D_ROW = 4;
export const FAIL_D_NEEDED = 5; // ERROR_BATCH_TOO_LARGE: bytes needed
export const FAIL_D_LIMIT = 6; // ... and bytes there are
export const END_D_BATCHES = 3;

// ---- errors -------------------------------------------------------------------------------------
export const ERROR_NONE = 0;
export const ERROR_CONFIG = 1; // HEAD_ERROR_DETAIL: the CONFIG_* slot
export const ERROR_EVENT = 2; // an event that cannot be: HEAD_ERROR_DETAIL: its kind
export const ERROR_FETCH = 3; // a part failed for good (or its retries ran out)
export const ERROR_PLACE = 4;
export const ERROR_BATCH_TOO_LARGE = 5; // does not fit in landing memory
export const ERROR_TOO_MANY_SKIPS = 6;
export const ERROR_CAPACITY = 7; // a table is full: a defect, or a batch above MAX_SAMPLES
export const ERROR_CLOCK = 8; // time went backwards
export const ERROR_NOT_READY = 9; // step before init

export const NO_REQUEST = 4294967295;
