/** The figures of several rounds of one measurement, in the measurement's unit. */
export interface Spread {
  min: number;
  median: number;
  max: number;
  rounds: number;
}

/** @throws RangeError without a value */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  const lower = sorted[sorted.length % 2 === 0 ? middle - 1 : middle];
  if (upper === undefined || lower === undefined) throw new RangeError('no round was measured');
  return { min: sorted[0]!, median: (lower + upper) / 2, max: sorted.at(-1)!, rounds: sorted.length };
}
