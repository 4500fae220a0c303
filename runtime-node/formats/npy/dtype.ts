/** NumPy's kinds of elements with the sizes in bytes that they come in; null: any, the number counts units of `unitBytes`. */
const KINDS: Readonly<Record<string, { sizes: readonly number[] | null; unitBytes: number }>> = {
  b: { sizes: [1], unitBytes: 1 },
  i: { sizes: [1, 2, 4, 8], unitBytes: 1 },
  u: { sizes: [1, 2, 4, 8], unitBytes: 1 },
  f: { sizes: [2, 4, 8, 12, 16], unitBytes: 1 },
  c: { sizes: [8, 16, 24, 32], unitBytes: 1 },
  S: { sizes: null, unitBytes: 1 },
  U: { sizes: null, unitBytes: 4 },
  V: { sizes: null, unitBytes: 1 },
  M: { sizes: [8], unitBytes: 1 },
  m: { sizes: [8], unitBytes: 1 },
};

/**
 * Bytes of one element of a type by NumPy's name of it: `<f4`, `|u1`, `>M8[ns]` (https://numpy.org/doc/stable/reference/arrays.interface.html).
 * @returns null where it is none of fixed size
 */
export function itemBytes(dtype: string): number | null {
  const match = /^[<>|=]([biufcSUVMm])(0|[1-9][0-9]{0,9})(?:\[[0-9a-zA-Z/]{1,16}\])?$/.exec(dtype);
  if (match === null) return null;
  const kind = KINDS[match[1]!]!;
  const number = Number(match[2]);
  const hasUnit = dtype.endsWith(']');
  if (hasUnit && match[1] !== 'M' && match[1] !== 'm') return null;
  return kind.sizes === null || kind.sizes.includes(number) ? number * kind.unitBytes : null;
}
