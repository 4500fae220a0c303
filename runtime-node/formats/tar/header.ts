import { isUtf8 } from 'node:buffer';
import { readTarNumber } from './numbers.js';

/** Headers are blocks of 512 bytes, and data is filled up to whole blocks. */
export const BLOCK_BYTES = 512;

/** One header block, as it stands: what extended headers say about the member is not in it. */
export interface TarHeader {
  name: string;
  sizeBytes: number;
  /** The type flag, as a character; `0` also for the NUL of the oldest archives. */
  type: string;
}

/** Why a block is no header. */
export interface NoHeader {
  problem: string;
}

const CHECKSUM_AT = 148;
const CHECKSUM_END = 156;
const SPACE = 0x20;

/**
 * Reads one header block, in the layouts of POSIX ustar, GNU tar and the archives from before both (pax(1), "ustar Interchange
 * Format"; "Basic Tar Format" in GNU tar's manual). Its checksum must fit, signed or unsigned as writers disagree.
 */
export function readHeader(block: Uint8Array): TarHeader | NoHeader {
  const stored = readTarNumber(block.subarray(CHECKSUM_AT, CHECKSUM_END));
  if (stored === null || !checksums(block).includes(stored)) {
    return { problem: 'the header there has a wrong checksum' };
  }
  const sizeBytes = readTarNumber(block.subarray(124, 136));
  if (sizeBytes === null) return { problem: 'the size in the header there is no number up to 2^53 - 1' };
  const own = textUntilNul(block.subarray(0, 100));
  const isPosix = latin1(block.subarray(257, 263)) === 'ustar\0';
  const prefix = isPosix ? untilNul(block.subarray(345, 500)) : new Uint8Array(0);
  const name =
    prefix.length > 0 ? textOf(Buffer.concat([prefix, SLASH, untilNul(block.subarray(0, 100))])) : own;
  const flag = block[156] as number;
  // The oldest archives have no flag for folders.
  const isOldFolder = flag === 0 && name.endsWith('/');
  return { name, sizeBytes, type: isOldFolder ? '5' : flag === 0 ? '0' : String.fromCharCode(flag) };
}

export function isZeroBlock(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

/** Text in UTF-8; names in another encoding byte by byte, so that different names stay different. */
export function textOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

export function textUntilNul(bytes: Uint8Array): string {
  return textOf(untilNul(bytes));
}

const SLASH = Buffer.from('/');

function untilNul(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1');
}

/** The sum of all bytes, those of the checksum itself as spaces: unsigned as POSIX says, and signed as some old writers have it. */
function checksums(block: Uint8Array): [unsigned: number, signed: number] {
  let unsigned = 0;
  let negative = 0;
  for (let i = 0; i < BLOCK_BYTES; i++) {
    const byte = i >= CHECKSUM_AT && i < CHECKSUM_END ? SPACE : (block[i] as number);
    unsigned += byte;
    if (byte > 127) negative += 256;
  }
  return [unsigned, unsigned - negative];
}
