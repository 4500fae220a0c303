/** What the addon `os2g-native` exports; made by native-gpudirect/node. Offsets and sizes are in bytes. */
export interface NativeModule {
  /** Of the package that it was built for. */
  version(): string;
  readonly NativeEngine: new (
    options: NativeEngineOptions,
    table: NativeTable,
    /** Records of `SUBMISSION_RECORDS`, written here and read by `submit`. */
    submissions: Uint8Array,
    /** Records of `COMPLETION_RECORDS` and one number behind them, written by `poll`. */
    completions: Uint8Array,
    wake: () => void,
  ) => NativeEngineHandle;
  /** Shared memory of so many bytes, zeroed. */
  readonly SharedSegment: new (
    length: number,
  ) => NativeSegment;
  /** Makes landing memory on a GPU. */
  openCuda(
    options: NativeCudaOptions,
    /** Records of `PLACE_*`, written here and read by `submit`. */
    submissions: Uint8Array,
    /** Records of `PLACED_*`, written by `poll`. */
    completions: Uint8Array,
    wake: () => void,
  ): NativeCudaHandle | NativeTransferFailure;
  /** The driver and its GPUs; opens none of them. */
  surveyCuda(library?: string): NativeCudaSurvey | NativeTransferFailure;
  /** Tries each transfer back end. */
  probeBackends(cudaLibrary?: string): NativeProbe[];
}

export interface NativeCudaOptions {
  /** File of the driver; left out: `libcuda.so.1`, as the loader finds it. */
  library?: string;
  /** Number of the GPU among the visible ones. */
  device: number;
  consumers: number;
  /** On the GPU, for each consumer. */
  landingBytes: number;
  /** Of page-locked host memory. */
  stagingBytes: number;
}

export interface NativeCudaSurvey {
  /** The newest CUDA release that the driver supports. */
  version: string;
  /** Names, at least one. */
  gpus: string[];
}

/** Landing memory on a GPU, and the page-locked memory that it is filled from. */
export interface NativeCudaHandle {
  /** A view of the page-locked memory itself, which keeps it mapped. */
  staging(): Uint8Array;
  /** Starts the copies of the first `count` records of `submissions`. */
  submit(count: number): void;
  /** Writes up to `max` completions, oldest first. @returns how many */
  poll(max: number): number;
  /** Asks for one `wake` when completions wait. True: some do already, and no wake comes. */
  arm(): boolean;
  failure(id: number): NativeTransferFailure | null;
  /** Copies landing memory back and waits for it. */
  read(consumer: number, offset: number, into: Uint8Array): NativeTransferFailure | null;
  /** Waits for the copies under way. No completion follows. */
  close(): Promise<NativeTransferFailure | null>;
}

/** What a transfer back end, its library or its driver answered. */
export interface NativeTransferFailure {
  /** `missing_library`, `driver`, `out_of_bounds`, ... */
  kind: string;
  /** The driver's name for it, such as `CUDA_ERROR_OUT_OF_MEMORY`. */
  name: string | null;
  what: string;
  mend: string;
}

export interface NativeSegment {
  /** A view of the memory itself, which keeps it mapped. */
  memory(): Uint8Array;
  fd(): number;
  /** The pages that were got. */
  pages(): 'normal' | 'transparent' | 'huge';
}

/** What a transfer back end came to on this machine. */
export interface NativeProbe {
  name: string;
  found: boolean;
  version: string | null;
  works: boolean;
  why: string;
  /** Empty where nothing need be done. */
  mend: string;
  details: string[];
}

export interface NativeEngineOptions {
  tls: boolean;
  /** The Host header. */
  host: string;
  hostname: string;
  port: number;
  pathPrefix: string;
  signingRegion: string;
  signingName: string;
  requesterPays: boolean;
  verify: 'size' | 'etag' | 'checksum';
  connectNs: number;
  firstByteNs: number;
  idleNs: number;
  /** Infinity: none. */
  totalNs: number;
  maxConnections: number;
  threads: number;
  caPem?: string;
  /** http://[user:password@]host:port; left out: no proxy. */
  proxy?: string;
  noProxy?: string;
  /** Added to the system's wall clock, in milliseconds. */
  wallOffsetMs: number;
}

export interface NativeCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiresAtMs?: number;
}

/** Strings end to end; see `TextValues`. */
export interface NativeText {
  bytes: Uint8Array;
  offsets: Uint32Array;
  /** Words from one offset to the next. */
  stride: number;
  validity?: Uint8Array;
  /** Of a dictionary: which string each row is. */
  indices?: NativeNumbers;
}

export interface NativeNumbers {
  /** The numbers' own bytes. */
  bytes: Uint8Array;
  kind: 'u8' | 'u16' | 'u32' | 'u64' | 'f64';
  validity?: Uint8Array;
}

export interface NativeTable {
  rows: number;
  batches: {
    firstRow: number;
    rows: number;
    key: NativeText;
    /** Left out: all are unknown. */
    etag?: NativeText;
    objectSize: NativeNumbers;
  }[];
}

/** Why an attempt failed, as the engine saw it. */
export interface NativeFailure {
  class: number;
  /** Null where an error answer of the store is all that there is to say. */
  what: string | null;
  status: number;
  s3Code: string | null;
  message: string | null;
  requestId: string | null;
  region: string | null;
  /** How an error answer's body begins. */
  bodyStart: string | null;
  expectedEtag: string | null;
  actualEtag: string | null;
  /** The answer's Date header. */
  date: string | null;
  refusesIfMatch: boolean;
  /** What `setCredentials` returned for the credentials that signed it; 0: none. */
  credentialsGeneration: number;
}

export interface NativeEngineHandle {
  /** Takes over the first `count` records of `submissions`. */
  submit(count: number): void;
  /**
   * Writes up to `max` completions, oldest first, and the time of now on the engine's clock behind the last record's place.
   * @returns how many
   */
  poll(max: number): number;
  /** Asks for one `wake` when completions wait. True: some do already, and no wake comes. */
  arm(): boolean;
  /** Memory where bodies land; it is held until the engine is closed. */
  register(memory: Uint8Array): number;
  failure(id: number): NativeFailure | null;
  /** @returns the number that failures name them by */
  setCredentials(credentials?: NativeCredentials): number;
  /** What the user should know, since the last call. */
  notices(): string[];
  /** Checked, unchecked. */
  checksums(): number[];
  sockets(): number;
  /** Resolves when no thread, socket or transfer is left. */
  close(): Promise<void>;
}

// One record has 64 bytes: 16 words or 8 numbers.
export const RECORD_BYTES = 64;
export const RECORD_WORDS = 16;
export const RECORD_NUMBERS = 8;

export const SUBMIT_GET = 1;
export const SUBMIT_CANCEL = 2;
export const SUBMISSION_W_ID = 1;
export const SUBMISSION_W_ATTEMPT = 2;
export const SUBMISSION_W_REGION = 3;
export const SUBMISSION_D_ROW = 2;
export const SUBMISSION_D_OFFSET = 3;
export const SUBMISSION_D_LENGTH = 4;
export const SUBMISSION_D_TARGET = 5;

export const COMPLETION_FIRST_BYTE = 0;
export const COMPLETION_FETCHED = 1;
export const COMPLETION_FAILED = 2;
export const COMPLETION_W_CLASS = 1;
export const COMPLETION_W_ID = 2;
export const COMPLETION_W_ATTEMPT = 3;
export const COMPLETION_W_STATUS = 4;
export const COMPLETION_D_TIME = 3;
export const COMPLETION_D_BYTES = 4;
export const COMPLETION_D_RETRY_AFTER = 5;

export const PLACE_W_ID = 1;
export const PLACE_W_ATTEMPT = 2;
export const PLACE_W_CONSUMER = 3;
export const PLACE_D_FROM = 2;
export const PLACE_D_TO = 3;
export const PLACE_D_LENGTH = 4;

export const PLACED = 0;
export const PLACE_FAILED = 1;
export const PLACED_W_ID = 2;
export const PLACED_W_ATTEMPT = 3;
