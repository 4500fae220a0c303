import { isObject, isShape } from './header-values.js';
import { type Literal, LiteralError, parseLiteral } from './literal.js';

/** A NumPy array file from its header: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
export interface NpyHeader {
  /** NumPy's name of the type, with byte order: `<f4`. Null where it is a structured one. */
  dtype: string | null;
  /** Outermost first; empty for a single value. */
  shape: readonly number[];
  fortranOrder: boolean;
  /** Where the data begin, in bytes. */
  dataOffset: number;
}

/** What is wrong with a header, at which byte of the file. */
export class NpyHeaderError extends Error {
  constructor(
    readonly byte: number,
    what: string,
  ) {
    super(what);
  }
}

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
/** Magic, version, and the longer of the two length fields. */
export const NPY_START_BYTES = 12;
/** NumPy itself reads at most 10 000 bytes of header unless told otherwise; structured types need more. */
const LONGEST_HEADER_BYTES = 1 << 20;

/**
 * Where the header's text is, in bytes of the file.
 * @param start the first bytes of the file, at least `NPY_START_BYTES` of them where it has so many
 * @throws NpyHeaderError
 */
export function headerRange(start: Uint8Array): { from: number; to: number; version: number } {
  if (start.length < MAGIC.length || MAGIC.some((byte, i) => start[i] !== byte)) {
    throw new NpyHeaderError(0, 'it does not begin as a .npy file does');
  }
  const version = start[6] ?? 0;
  const minor = start[7] ?? 0;
  if (version < 1 || version > 3 || minor !== 0) {
    throw new NpyHeaderError(6, `it is of version ${version}.${minor}; 1.0, 2.0 and 3.0 are read`);
  }
  const from = version === 1 ? 10 : 12;
  if (start.length < from) throw new NpyHeaderError(8, 'it ends within its header');
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const bytes = version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  if (bytes > LONGEST_HEADER_BYTES) {
    throw new NpyHeaderError(
      8,
      `it says that its header has ${bytes} bytes, at most ${LONGEST_HEADER_BYTES} are read`,
    );
  }
  return { from, to: from + bytes, version };
}

/** @param file the file up to the end of its header, or more. @throws NpyHeaderError */
export function parseHeader(file: Uint8Array): NpyHeader {
  const { from, to, version } = headerRange(file);
  if (file.length < to) throw new NpyHeaderError(file.length, `it ends within its header of ${to} bytes`);
  const { descr, fortran_order, shape, ...others } = dictionary(file, from, to, version);
  const missing = Object.entries({ descr, fortran_order, shape }).find(([, value]) => value === undefined);
  if (missing !== undefined) throw new NpyHeaderError(from, `its header has no ${missing[0]}`);
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new NpyHeaderError(
      from,
      `its header has ${JSON.stringify(other)}, which is none of descr, fortran_order, shape`,
    );
  }
  if (typeof fortran_order !== 'boolean')
    throw new NpyHeaderError(from, 'fortran_order is neither True nor False');
  if (!isShape(shape)) throw new NpyHeaderError(from, 'shape is no tuple of whole numbers');
  return {
    dtype: typeof descr === 'string' ? descr : null,
    shape,
    fortranOrder: fortran_order,
    dataOffset: to,
  };
}

function dictionary(
  file: Uint8Array,
  from: number,
  to: number,
  version: number,
): { [name: string]: Literal | undefined } {
  const bytes = file.subarray(from, to);
  let value: Literal;
  try {
    const text =
      version === 3
        ? new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
        : Buffer.from(bytes).toString('latin1');
    value = parseLiteral(text);
  } catch (error) {
    if (error instanceof LiteralError)
      throw new NpyHeaderError(from + error.at, `its header ${error.message}`);
    throw new NpyHeaderError(from, 'its header is not UTF-8');
  }
  if (!isObject(value)) throw new NpyHeaderError(from, 'its header is no dictionary');
  return value;
}
