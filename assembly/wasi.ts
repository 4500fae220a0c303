// The core as a WASI command: a trace on standard input, one JSON line on standard output. The machine is the same one that
// a host embeds, and its exports are there too; only `_start` does I/O.
import { init, step } from './index';
import * as L from './layout';
import { headWord, setHeadWord } from './state';

export { init, landingBytes, orderRow, stagingBytes, step } from './index';

const CHUNK_BYTES: i32 = 65536;
const EXIT_BAD_TRACE: i32 = 2;
const MAGIC: u64 = 0x314352544732534f; // "OS2GTRC1", little-endian

/** Standard input in pieces; never asks for more than it was told to need. */
class Input {
  private buffer: ArrayBuffer = new ArrayBuffer(CHUNK_BYTES);
  private start: i32 = 0;
  private end: i32 = 0;

  /** Makes `bytes` bytes available; false: the input ends before. */
  need(bytes: i32): bool {
    if (this.end - this.start >= bytes) return true;
    const base = changetype<usize>(this.buffer);
    memory.copy(base, base + this.start, this.end - this.start);
    this.end -= this.start;
    this.start = 0;
    while (this.end < bytes) {
      const got = process.stdin.read(this.buffer, this.end);
      if (got <= 0) return false;
      this.end += got;
    }
    return true;
  }

  /** Where the next `bytes` bytes lie; they count as read. */
  take(bytes: i32): usize {
    const at = changetype<usize>(this.buffer) + this.start;
    this.start += bytes;
    return at;
  }
}

class Replay {
  events: u64 = 0;
  steps: u64 = 0;
  truncated: bool = true;
  differs: bool = false;
  /** The first step before which the hashes differ; -1: none. */
  first_difference: i64 = -1;
  recorded: u64 = 0;
}

function main(): void {
  const input = new Input();
  if (!readHeader(input)) return refuse('not a trace of this core');
  if (init() != L.ERROR_NONE) return refuse('the core refuses the configuration');
  const replay = new Replay();
  while (replay.truncated && input.need(L.RECORD_BYTES)) {
    const record = input.take(L.RECORD_BYTES);
    const kind = load<u32>(record);
    const recorded = load<u64>(record + 4 * L.TRACE_W_HASH_LO);
    if (kind == L.TRACE_END) {
      replay.recorded = recorded;
      replay.truncated = false;
      break;
    }
    const events = load<u32>(record + 4 * L.TRACE_W_COUNT);
    const now_ns = load<f64>(record + 8 * L.D_TIME_NS);
    if (kind != L.TRACE_STEP || events > <u32>L.EVENT_RING_RECORDS) return refuse('a record that is no step');
    const before = runHash();
    if (!pushEvents(input, events)) break;
    if (before != recorded && replay.first_difference < 0) replay.first_difference = <i64>replay.steps;
    step(now_ns);
    setHeadWord(L.HEAD_ACTION_HEAD, headWord(L.HEAD_ACTION_TAIL));
    replay.events += events;
    replay.steps += 1;
  }
  replay.differs = replay.first_difference >= 0 || (!replay.truncated && replay.recorded != runHash());
  print(replay);
}

function readHeader(input: Input): bool {
  if (!input.need(L.TRACE_HEADER_BYTES)) return false;
  const header = input.take(L.TRACE_HEADER_BYTES);
  if (load<u64>(header) != MAGIC) return false;
  if (load<u32>(header, 8) != L.TRACE_HEADER_BYTES || load<u32>(header, 12) != L.RECORD_BYTES) return false;
  if (load<u32>(header, 16) != L.ABI_VERSION || load<u32>(header, 20) != L.CONFIG_SLOTS) return false;
  memory.copy(L.CONFIG_OFFSET, header + L.TRACE_CONFIG_OFFSET, L.CONFIG_SLOTS * 8);
  return true;
}

/** Whole steps only: a step that is cut off counts for nothing, so its events go to the ring but not to the core. */
function pushEvents(input: Input, events: u32): bool {
  for (let i: u32 = 0; i < events; i++) {
    if (!input.need(L.RECORD_BYTES)) return false;
    const tail = headWord(L.HEAD_EVENT_TAIL);
    const slot: usize = <usize>L.EVENT_RING_OFFSET + <usize>((tail & (L.EVENT_RING_RECORDS - 1)) * L.RECORD_BYTES);
    memory.copy(slot, input.take(L.RECORD_BYTES), L.RECORD_BYTES);
    setHeadWord(L.HEAD_EVENT_TAIL, tail + 1);
  }
  return true;
}

// @ts-ignore: decorator
@inline
function runHash(): u64 {
  return load<u64>(L.HEADER_OFFSET + 4 * L.HEAD_HASH_LO);
}

function hex(value: u64): string {
  let text = '';
  for (let shift = 60; shift >= 0; shift -= 4) text += '0123456789abcdef'.charAt(<i32>((value >> shift) & 15));
  return text;
}

function print(replay: Replay): void {
  const difference = replay.first_difference < 0 ? 'null' : replay.first_difference.toString();
  const recorded = replay.truncated ? 'null' : '"' + hex(replay.recorded) + '"';
  process.stdout.write(
    '{"run_hash":"' + hex(runHash()) + '","recorded_run_hash":' + recorded +
      ',"match":' + (replay.differs ? 'false' : 'true') + ',"events":' + replay.events.toString() +
      ',"steps":' + replay.steps.toString() + ',"truncated":' + (replay.truncated ? 'true' : 'false') +
      ',"first_difference":' + difference + '}\n',
  );
}

function refuse(why: string): void {
  process.stderr.write('core: ' + why + '\n');
  process.exit(EXIT_BAD_TRACE);
}

main();
