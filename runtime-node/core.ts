import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as layout from '../assembly/layout.js';
import { ConfigError, Os2gError } from './errors.js';
import { packageRoot } from './package-root.js';
import { SETTINGS } from './policy/settings.js';

export type CoreBuild = 'release' | 'debug' | 'wasi';
const BUILDS: readonly CoreBuild[] = ['release', 'debug', 'wasi'];

interface CoreExports {
  memory: WebAssembly.Memory;
  init(): number;
  step(nowNs: number): number;
  landingBytes(): number;
  stagingBytes(): number;
  orderRow(epoch: number, position: number): number;
}

const HEAD_WORD = layout.HEADER_OFFSET >> 2;
const HEAD_DOUBLE = layout.HEADER_OFFSET >> 3;
const EVENT_WORD = layout.EVENT_RING_OFFSET >> 2;
const EVENT_MASK = layout.EVENT_RING_RECORDS - 1;
const ACTION_WORD = layout.ACTION_RING_OFFSET >> 2;
const ACTION_MASK = layout.ACTION_RING_RECORDS - 1;

/** The host's end of the event ring: one method an event, numbers only, every word of a record written. */
export class EventRing {
  readonly #u32: Uint32Array;
  readonly #f64: Float64Array;

  constructor(u32: Uint32Array, f64: Float64Array) {
    this.#u32 = u32;
    this.#f64 = f64;
  }

  /** Records that still fit before the next step. */
  get free(): number {
    const used =
      (this.#u32[HEAD_WORD + layout.HEAD_EVENT_TAIL]! - this.#u32[HEAD_WORD + layout.HEAD_EVENT_HEAD]!) >>> 0;
    return layout.EVENT_RING_RECORDS - used;
  }

  #push(
    kind: number,
    consumer: number,
    id: number,
    word3: number,
    word4: number,
    word5: number,
    d3: number,
    d4: number,
    timeNs: number,
  ): void {
    const u32 = this.#u32;
    const f64 = this.#f64;
    const tail = u32[HEAD_WORD + layout.HEAD_EVENT_TAIL]!;
    const word = EVENT_WORD + (tail & EVENT_MASK) * layout.RECORD_WORDS;
    u32[word] = kind;
    u32[word + 1] = consumer;
    u32[word + 2] = id;
    u32[word + 3] = word3;
    u32[word + 4] = word4;
    u32[word + 5] = word5;
    const half = word >> 1;
    f64[half + 3] = d3;
    f64[half + 4] = d4;
    f64[half + 5] = 0;
    f64[half + 6] = 0;
    f64[half + layout.D_TIME_NS] = timeNs;
    u32[HEAD_WORD + layout.HEAD_EVENT_TAIL] = (tail + 1) >>> 0;
  }

  #pushWide(
    kind: number,
    consumer: number,
    id: number,
    word3: number,
    d2: number,
    d3: number,
    timeNs: number,
  ): void {
    const tail = this.#u32[HEAD_WORD + layout.HEAD_EVENT_TAIL]!;
    this.#push(kind, consumer, id, word3, 0, 0, d3, 0, timeNs);
    this.#f64[((EVENT_WORD + (tail & EVENT_MASK) * layout.RECORD_WORDS) >> 1) + 2] = d2;
  }

  resolved(timeNs: number, slot: number, object: number, offset: number, length: number): void {
    this.#pushWide(layout.EVENT_RESOLVED, 0, slot, object, offset, length, timeNs);
  }

  firstByte(timeNs: number, id: number, attempt: number): void {
    this.#push(layout.EVENT_FIRST_BYTE, 0, id, attempt, 0, 0, 0, 0, timeNs);
  }

  fetched(timeNs: number, id: number, attempt: number, bytes: number): void {
    this.#pushWide(layout.EVENT_FETCHED, 0, id, attempt, bytes, 0, timeNs);
  }

  failed(
    timeNs: number,
    id: number,
    attempt: number,
    failureClass: number,
    status: number,
    retryAfterNs: number,
    bytes: number,
  ): void {
    this.#push(layout.EVENT_FETCH_FAILED, 0, id, attempt, failureClass, status, retryAfterNs, bytes, timeNs);
  }

  placed(timeNs: number, id: number, attempt: number): void {
    this.#push(layout.EVENT_PLACED, 0, id, attempt, 0, 0, 0, 0, timeNs);
  }

  placeFailed(timeNs: number, id: number, attempt: number, failureClass: number): void {
    this.#push(layout.EVENT_PLACE_FAILED, 0, id, attempt, failureClass, 0, 0, 0, timeNs);
  }

  consumed(timeNs: number, consumer: number, epoch: number, batch: number): void {
    this.#push(layout.EVENT_CONSUMED, consumer, 0, 0, epoch, batch, 0, 0, timeNs);
  }

  waiting(timeNs: number, consumer: number): void {
    this.#push(layout.EVENT_WAITING, consumer, 0, 0, 0, 0, 0, 0, timeNs);
  }

  requested(timeNs: number, consumer: number, flags: number, row: number): void {
    this.#pushWide(layout.EVENT_REQUESTED, consumer, 0, flags, row, 0, timeNs);
  }

  limit(timeNs: number, bytes: number): void {
    this.#pushWide(layout.EVENT_LIMIT, 0, 0, 0, bytes, 0, timeNs);
  }

  stop(timeNs: number): void {
    this.#push(layout.EVENT_STOP, 0, 0, 0, 0, 0, 0, 0, timeNs);
  }

  /** Takes one record as it was recorded; `words` holds whole records. */
  raw(words: Uint32Array, firstWord: number): void {
    const tail = this.#u32[HEAD_WORD + layout.HEAD_EVENT_TAIL]!;
    const word = EVENT_WORD + (tail & EVENT_MASK) * layout.RECORD_WORDS;
    for (let i = 0; i < layout.RECORD_WORDS; i++) this.#u32[word + i] = words[firstWord + i]!;
    this.#u32[HEAD_WORD + layout.HEAD_EVENT_TAIL] = (tail + 1) >>> 0;
  }
}

/** Called before each step with the records that it will take: `first` is a free-running ring position. */
export type StepHook = (nowNs: number, first: number, count: number) => void;

/**
 * One instance of the policy core: a state machine in linear memory without I/O, clock or imports. Offsets and marshalling
 * stay in this file; everybody else sees numbers. Not re-entrant.
 */
export class Core {
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  readonly events: EventRing;
  /** Live view of the COUNTER_* values. */
  readonly counters: Float64Array;
  /** SHA-256 of the binary, in hex. */
  readonly sha256: string;
  onStep: StepHook | null = null;
  readonly #exports: CoreExports;

  private constructor(exports: CoreExports, sha256: string) {
    this.#exports = exports;
    this.sha256 = sha256;
    const buffer = exports.memory.buffer;
    this.u32 = new Uint32Array(buffer);
    this.f64 = new Float64Array(buffer);
    this.counters = new Float64Array(
      buffer,
      layout.HEADER_OFFSET + layout.HEAD_COUNTERS * 8,
      layout.COUNTER_COUNT,
    );
    this.events = new EventRing(this.u32, this.f64);
  }

  /**
   * Instantiates a build of the core.
   * @param build which of the shipped builds (default: `OS2G_CORE`, else `release`), or the bytes of one.
   */
  static async load(build?: CoreBuild | Uint8Array): Promise<Core> {
    const bytes =
      build instanceof Uint8Array ? build : readFileSync(corePath(build ?? buildFromEnvironment()));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const module = compiled(bytes, sha256);
    let memory: WebAssembly.Memory | null = null;
    const instance = new WebAssembly.Instance(module, await importsOf(module, () => memory));
    memory = instance.exports.memory as WebAssembly.Memory;
    const exports = instance.exports as unknown as CoreExports;
    if (typeof exports.step !== 'function' || typeof exports.init !== 'function') {
      throw new ConfigError(
        'bad_core',
        'the Wasm file is not a core of os2g: no init and step',
        'name a file that os2g built',
      );
    }
    const core = new Core(exports, sha256);
    const abi = core.u32[HEAD_WORD + layout.HEAD_ABI];
    if (abi !== undefined && abi !== 0 && abi !== layout.ABI_VERSION) {
      throw new ConfigError(
        'bad_core',
        `the core has interface ${abi}, this host ${layout.ABI_VERSION}`,
        'rebuild the core',
      );
    }
    return core;
  }

  /**
   * Starts a run.
   * @param config one f64 for each CONFIG_* slot, from `jobConfig`.
   */
  init(config: Float64Array): void {
    if (config.length !== layout.CONFIG_SLOTS)
      throw new RangeError(`a configuration has ${layout.CONFIG_SLOTS} slots`);
    this.f64.set(config, layout.CONFIG_OFFSET >> 3);
    const error = this.#exports.init();
    if (error === layout.ERROR_NONE) return;
    const slot = this.errorDetail;
    const name = SETTINGS.find((s) => s.slot === slot)?.name ?? `configuration slot ${slot}`;
    throw new ConfigError(
      'bad_option',
      `the core refuses ${name} = ${config[slot]}`,
      'give a value inside the range that `os2g feed --help-settings` prints',
      { option: name },
    );
  }

  /** Takes every pushed event at `nowNs` (whole nanoseconds, never less than before); returns the actions that wait. */
  step(nowNs: number): number {
    if (this.onStep !== null) {
      const first = this.u32[HEAD_WORD + layout.HEAD_EVENT_HEAD]!;
      this.onStep(nowNs, first, (this.u32[HEAD_WORD + layout.HEAD_EVENT_TAIL]! - first) >>> 0);
    }
    return this.#exports.step(nowNs);
  }

  /** Takes the next action: its first word in `u32` (its f64 fields are at `f64[(word >> 1) + D_*]`), or -1. Valid until the next step. */
  action(): number {
    const head = this.u32[HEAD_WORD + layout.HEAD_ACTION_HEAD]!;
    if (head === this.u32[HEAD_WORD + layout.HEAD_ACTION_TAIL]!) return -1;
    this.u32[HEAD_WORD + layout.HEAD_ACTION_HEAD] = (head + 1) >>> 0;
    return ACTION_WORD + (head & ACTION_MASK) * layout.RECORD_WORDS;
  }

  /** First word, in `u32`, of the event at a free-running ring position (for `onStep`). */
  eventWord(position: number): number {
    return EVENT_WORD + (position & EVENT_MASK) * layout.RECORD_WORDS;
  }

  get flags(): number {
    return this.u32[HEAD_WORD + layout.HEAD_FLAGS]!;
  }

  /** Work was left for lack of ring space: drain the actions and step again. */
  get more(): boolean {
    return (this.flags & layout.FLAG_MORE) !== 0;
  }

  /** When the core wants to be stepped though nothing happens; Infinity: never. */
  get deadlineNs(): number {
    return this.f64[HEAD_DOUBLE + layout.HEAD_DEADLINE_NS]!;
  }

  /** ERROR_* of the run. */
  get error(): number {
    return this.u32[HEAD_WORD + layout.HEAD_ERROR]!;
  }

  get errorDetail(): number {
    return this.u32[HEAD_WORD + layout.HEAD_ERROR_DETAIL]!;
  }

  /** Hash over every step, event and action so far: 16 hex digits. */
  get runHash(): string {
    const hex = (word: number): string => this.u32[HEAD_WORD + word]!.toString(16).padStart(8, '0');
    return hex(layout.HEAD_HASH_HI) + hex(layout.HEAD_HASH_LO);
  }

  /** Bytes of each consumer's landing region, as init divided the budget. */
  get landingBytes(): number {
    return this.#exports.landingBytes();
  }

  get stagingBytes(): number {
    return this.#exports.stagingBytes();
  }

  /** The manifest's row at a position of an epoch's order: what a rank will read, without reading it. O(1). */
  orderRow(epoch: number, position: number): number {
    return this.#exports.orderRow(epoch, position);
  }
}

/** Path of a shipped build. */
export function corePath(build: CoreBuild): string {
  return join(packageRoot, 'build', `core.${build}.wasm`);
}

function buildFromEnvironment(): CoreBuild {
  const name = process.env.OS2G_CORE;
  if (name === undefined || name === '') return 'release';
  const build = BUILDS.find((b) => b === name);
  if (build) return build;
  throw new ConfigError(
    'bad_option',
    `OS2G_CORE=${name} is not a build of the core`,
    `use one of ${BUILDS.join(', ')}`,
    {
      option: 'OS2G_CORE',
    },
  );
}

const modules = new Map<string, WebAssembly.Module>();

/**
 * Compiled at once, not in the background: the module is small, and Node 20 can lock up where a process waits for nothing but
 * an asynchronous compilation (nodejs/node#54918).
 */
function compiled(bytes: Uint8Array, sha256: string): WebAssembly.Module {
  let module = modules.get(sha256);
  if (!module) {
    try {
      module = new WebAssembly.Module(new Uint8Array(bytes));
    } catch (cause) {
      throw new Os2gError(
        'bad_core',
        'the core is not a valid Wasm module',
        'rebuild it with `npm run build:core`',
        { cause },
      );
    }
    modules.set(sha256, module);
  }
  return module;
}

/** The release build imports nothing; the debug build reports failed assertions, the wasi build expects WASI. */
async function importsOf(
  module: WebAssembly.Module,
  memory: () => WebAssembly.Memory | null,
): Promise<WebAssembly.Imports> {
  const wanted = new Set(WebAssembly.Module.imports(module).map((i) => i.module));
  const imports: WebAssembly.Imports = {};
  if (wanted.has('wasi_snapshot_preview1')) {
    Object.assign(imports, await wasiImports());
  }
  if (wanted.has('env')) {
    imports.env = {
      abort(message: number, file: number, line: number, column: number): never {
        const text = (pointer: number): string => assemblyScriptString(memory(), pointer);
        throw new Error(`core: ${text(message)} at ${text(file)}:${line}:${column}`);
      },
    };
  }
  return imports;
}

/** AssemblyScript strings are UTF-16 with their length in bytes before them. */
function assemblyScriptString(memory: WebAssembly.Memory | null, pointer: number): string {
  if (memory === null || pointer === 0) return 'assertion failed';
  const bytes = new DataView(memory.buffer).getUint32(pointer - 4, true);
  return new TextDecoder('utf-16le').decode(new Uint8Array(memory.buffer, pointer, bytes));
}

/** node:wasi announces itself as experimental; that is not the user's concern. */
async function wasiImports(): Promise<WebAssembly.Imports> {
  const emit = process.emitWarning;
  process.emitWarning = (() => {}) as typeof process.emitWarning;
  try {
    const { WASI } = await import('node:wasi');
    return new WASI({ version: 'preview1' }).getImportObject() as WebAssembly.Imports;
  } finally {
    process.emitWarning = emit;
  }
}
