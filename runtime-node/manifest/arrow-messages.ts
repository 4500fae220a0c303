import type { Block } from 'apache-arrow/fb/block';
import { DictionaryBatch } from 'apache-arrow/fb/dictionary-batch';
import { Footer } from 'apache-arrow/fb/footer';
import { Message } from 'apache-arrow/fb/message';
import { MessageHeader } from 'apache-arrow/fb/message-header';
import { RecordBatch } from 'apache-arrow/fb/record-batch';
import { Schema } from 'apache-arrow/fb/schema';
import { CheckedBuffer } from './checked-buffer.js';
import { badManifest } from './manifest-error.js';

/** One message that carries data: a record batch, or a dictionary (or an addition to one). */
export interface DataMessage {
  batch: RecordBatch;
  body: Uint8Array;
  dictionary: { id: bigint; isDelta: boolean } | null;
}

export interface ArrowMessages {
  schema: Schema;
  /** Metadata version, as Arrow counts: 3 is V4, 4 is V5. */
  version: number;
  /** In the order in which they take effect. */
  data: DataMessage[];
}

const MAGIC = 'ARROW1';
const FIRST_MESSAGE = 8;
/** Length of the footer's size and the closing magic. */
const TRAILER = 10;
/** Room for alignment and the end mark; no batch is that small. */
const MAX_GAP = 63;
const CONTINUATION = 0xffffffff;
const FOREIGN: [magic: string, name: string][] = [
  ['PAR1', 'a Parquet file'],
  ['FEA1', 'a Feather V1 file'],
  ['{', 'JSON'],
  ['\x1f\x8b', 'gzip'],
  ['(\xb5/\xfd', 'Zstandard'],
];

/**
 * Splits an Arrow IPC file or stream into its messages, views on `bytes`. The batches that a file's footer names must fill
 * the file, so that none is lost in silence.
 * https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
 */
export function readMessages(bytes: Uint8Array, file: string): ArrowMessages {
  if (ascii(bytes, 0, MAGIC.length) === MAGIC) return readFile(bytes);
  const first = bytes.length < 8 ? 0 : uint32(bytes, 0);
  if (first === CONTINUATION || (first >= 16 && first < bytes.length)) {
    return readStream(bytes);
  }
  const foreign = FOREIGN.find(([magic]) => ascii(bytes, 0, magic.length) === magic)?.[1];
  throw badManifest(
    { file },
    bytes.length === 0
      ? 'the file is empty'
      : `this is not an Arrow IPC file${foreign ? ` but ${foreign}` : ''}`,
    'make it with `os2g index`, or write it with pyarrow.ipc.new_file',
  );
}

function readFile(bytes: Uint8Array): ArrowMessages {
  const end = bytes.length - TRAILER;
  if (end < FIRST_MESSAGE || ascii(bytes, end + 4, MAGIC.length) !== MAGIC) {
    throw new RangeError('the file breaks off before its end mark');
  }
  const footerLength = uint32(bytes, end);
  const footerStart = end - footerLength;
  if (footerStart < FIRST_MESSAGE) throw new RangeError(`its footer claims ${footerLength} bytes`);
  const footer = Footer.getRootAsFooter(new CheckedBuffer(bytes.subarray(footerStart, end)));
  const schema = footer.schema();
  if (schema === null) throw new RangeError('it holds no schema');
  const found: Found[] = [];
  // A file may hold its dictionaries anywhere, also behind the batches that use them.
  for (let i = 0; i < footer.dictionariesLength(); i++)
    found.push(blockAt(bytes, footer.dictionaries(i), footerStart));
  const dictionaries = found.length;
  for (let i = 0; i < footer.recordBatchesLength(); i++)
    found.push(blockAt(bytes, footer.recordBatches(i), footerStart));
  const data = found.map(({ message, body }) => dataOf(message, body));
  if (data.some((message, i) => (message.dictionary !== null) !== i < dictionaries)) {
    throw new RangeError('its footer takes batches for dictionaries');
  }
  checkFilled(bytes, found, footerStart);
  return { schema, version: footer.version(), data };
}

/** A message and where it is in the file. */
interface Found {
  message: Message;
  body: Uint8Array;
  start: number;
  end: number;
}

function blockAt(bytes: Uint8Array, block: Block | null, to: number): Found {
  const offset = block?.offset() ?? -1n;
  if (offset < BigInt(FIRST_MESSAGE) || offset >= BigInt(to))
    throw new RangeError(`its footer names a batch at ${offset}`);
  const found = messageAt(bytes, Number(offset), to);
  if (found === null) throw new RangeError(`its footer names a batch at ${offset}, where there is none`);
  return found;
}

/** Between the footer's blocks, before the first and after the last there is no room for a block that it does not name. */
function checkFilled(bytes: Uint8Array, found: readonly Found[], footerStart: number): void {
  const blocks = [...found].sort((a, b) => a.start - b.start);
  let at = blocks[0]?.start ?? footerStart;
  // Some writers give the schema in the footer only, and some give it here in a form of their own.
  if (uint32(bytes, FIRST_MESSAGE) === CONTINUATION) {
    const first = messageAt(bytes, FIRST_MESSAGE, footerStart);
    at = first?.message.headerType() === MessageHeader.Schema ? first.end : FIRST_MESSAGE;
  }
  for (const { start, end } of blocks) {
    if (start < at || start - at > MAX_GAP)
      throw new RangeError(`its footer leaves out bytes ${at} to ${start}`);
    at = end;
  }
  if (footerStart - at > MAX_GAP) throw new RangeError(`its footer leaves out bytes ${at} to ${footerStart}`);
}

function readStream(bytes: Uint8Array): ArrowMessages {
  const first = messageAt(bytes, 0, bytes.length);
  if (first?.message.headerType() !== MessageHeader.Schema)
    throw new RangeError('its first message is not a schema');
  const schema: Schema | null = first.message.header(new Schema());
  if (schema === null) throw new RangeError('it holds no schema');
  const data: DataMessage[] = [];
  for (let at = first.end; ; ) {
    if (at >= bytes.length) throw new RangeError('the stream breaks off before its end mark');
    const found = messageAt(bytes, at, bytes.length);
    if (found === null) {
      checkEnd(bytes, at);
      break;
    }
    data.push(dataOf(found.message, found.body));
    at = found.end;
  }
  return { schema, version: first.message.version(), data };
}

/** An end mark with more behind it may have been the length of a batch, or zeros that were never written: both would lose rows. */
function checkEnd(bytes: Uint8Array, at: number): void {
  const markBytes = uint32(bytes, at) === CONTINUATION ? 8 : 4;
  const rest = bytes.subarray(at + markBytes);
  if (rest.length > MAX_GAP || rest.some((byte) => byte !== 0)) {
    throw new RangeError(`the stream ends at byte ${at}, and ${rest.length} bytes follow`);
  }
}

/** The message at a place, or null where the end mark is. */
function messageAt(bytes: Uint8Array, start: number, to: number): Found | null {
  const metadata = metadataAt(bytes, start, to);
  if (metadata === null) return null;
  const message = Message.getRootAsMessage(new CheckedBuffer(metadata.bytes));
  const body = bodyOf(message, bytes, metadata.end, to);
  return { message, body, start, end: metadata.end + body.length };
}

function metadataAt(bytes: Uint8Array, at: number, to: number): { bytes: Uint8Array; end: number } | null {
  const first = at + 4 <= to ? uint32(bytes, at) : -1;
  const start = first === CONTINUATION ? at + 8 : at + 4;
  const length = first === CONTINUATION ? (at + 8 <= to ? uint32(bytes, at + 4) : -1) : first;
  if (length === 0) return null;
  if (length < 0 || start + length > to) throw new RangeError(`the message at byte ${at} is cut short`);
  return { bytes: bytes.subarray(start, start + length), end: start + length };
}

function bodyOf(message: Message, bytes: Uint8Array, start: number, to: number): Uint8Array {
  const length = message.bodyLength();
  if (length < 0n || length > BigInt(to - start)) {
    throw new RangeError(`a message claims ${length} bytes where ${to - start} are left`);
  }
  return bytes.subarray(start, start + Number(length));
}

function dataOf(message: Message, body: Uint8Array): DataMessage {
  const type = message.headerType();
  if (type === MessageHeader.RecordBatch) {
    const batch: RecordBatch | null = message.header(new RecordBatch());
    if (batch !== null) return { batch, body, dictionary: null };
  }
  if (type === MessageHeader.DictionaryBatch) {
    const header: DictionaryBatch | null = message.header(new DictionaryBatch());
    const batch = header?.data() ?? null;
    if (header !== null && batch !== null) {
      return { batch, body, dictionary: { id: header.id(), isDelta: header.isDelta() } };
    }
  }
  throw new RangeError(`it holds a message of unknown kind ${type}`);
}

function ascii(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}

function uint32(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(at, true);
}
