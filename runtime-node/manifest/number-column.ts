/** Validity as Arrow has it: bit i says that slot i is not null; null where no slot is. */
export type Bitmap = Uint8Array | null;

export function isSet(bitmap: Uint8Array, slot: number): boolean {
  return (((bitmap[slot >> 3] as number) >> (slot & 7)) & 1) === 1;
}

export type NumberValues =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float64Array;

const TWO_32 = 2 ** 32;

/** Integers of any width; those of 64 bits as pairs of words, so that reading one makes no BigInt. */
export class NumberColumn {
  constructor(
    readonly rows: number,
    readonly values: NumberValues,
    private readonly wide: 'no' | 'unsigned' | 'signed',
    readonly validity: Bitmap,
  ) {}

  /** Two words make one number, low half first. */
  get isWide(): boolean {
    return this.wide !== 'no';
  }

  isNull(row: number): boolean {
    return this.validity !== null && !isSet(this.validity, row);
  }

  /** Exact up to 2^53 - 1; beyond, a number that is not a safe integer. */
  get(row: number): number {
    if (this.wide === 'no') return this.values[row] as number;
    const high = this.values[2 * row + 1] as number;
    return (this.values[2 * row] as number) + (this.wide === 'signed' ? high | 0 : high) * TWO_32;
  }
}
