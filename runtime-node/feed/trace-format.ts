import * as layout from '../../assembly/layout.js';

/**
 * A trace file: a header, then records of 64 bytes each, all little-endian. docs/trace-format.md describes it byte by byte.
 */
export const TRACE_MAGIC = 'OS2GTRC1';
/** Of the TRACE_END record: f64 positions. */
export const TRACE_D_STEPS = 2;
export const TRACE_D_EVENTS = 3;

/** What the header holds. */
export interface TraceHeader {
  /** SHA-256 of the core's binary, in hex. */
  readonly coreSha256: string;
  readonly abi: number;
  /** The configuration that `init` was given, slot by slot. */
  readonly config: Float64Array;
}

export function encodeHeader(header: TraceHeader): Buffer {
  const bytes = Buffer.alloc(layout.TRACE_HEADER_BYTES);
  bytes.write(TRACE_MAGIC, 0, 'latin1');
  bytes.writeUInt32LE(layout.TRACE_HEADER_BYTES, 8);
  bytes.writeUInt32LE(layout.RECORD_BYTES, 12);
  bytes.writeUInt32LE(header.abi, 16);
  bytes.writeUInt32LE(layout.CONFIG_SLOTS, 20);
  bytes.write(header.coreSha256, 24, 'hex');
  header.config.forEach((value, slot) => {
    bytes.writeDoubleLE(value, layout.TRACE_CONFIG_OFFSET + slot * 8);
  });
  return bytes;
}

/** The header, or a sentence that says what is wrong with it. */
export function decodeHeader(bytes: Buffer): TraceHeader | string {
  if (bytes.length < layout.TRACE_HEADER_BYTES) return 'it ends inside the header';
  if (bytes.toString('latin1', 0, 8) !== TRACE_MAGIC) return `it does not begin with ${TRACE_MAGIC}`;
  const [headerBytes, recordBytes, abi, slots] = [8, 12, 16, 20].map((at) => bytes.readUInt32LE(at));
  if (headerBytes !== layout.TRACE_HEADER_BYTES || slots !== layout.CONFIG_SLOTS) {
    return `its header has ${headerBytes} bytes and ${slots} settings, not ${layout.TRACE_HEADER_BYTES} and ${layout.CONFIG_SLOTS}`;
  }
  if (recordBytes !== layout.RECORD_BYTES)
    return `its records have ${recordBytes} bytes, not ${layout.RECORD_BYTES}`;
  if (abi !== layout.ABI_VERSION) return `it is of interface ${abi}, this os2g has ${layout.ABI_VERSION}`;
  const config = new Float64Array(layout.CONFIG_SLOTS);
  for (let slot = 0; slot < config.length; slot++)
    config[slot] = bytes.readDoubleLE(layout.TRACE_CONFIG_OFFSET + slot * 8);
  return { abi, config, coreSha256: bytes.toString('hex', 24, 56) };
}

export function hashText(low: number, high: number): string {
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
