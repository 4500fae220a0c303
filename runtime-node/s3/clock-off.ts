/** Below this the clocks agree, as far as a Date header of whole seconds and the way of the answer can tell. */
const AGREE_S = 5;

/**
 * What a store means that refuses the time of a signature.
 *
 * @param storeMs the answer's Date header in milliseconds since 1970; null: it had none
 */
export function clockOff(nowMs: number, storeMs: number | null): string {
  if (storeMs === null) return "this machine's clock is off";
  const seconds = Math.round((nowMs - storeMs) / 1000);
  if (Math.abs(seconds) < AGREE_S) {
    return "the store refuses the time of the signature, though this machine's clock agrees with its answer's: the request was delayed on its way, or the store's machines disagree";
  }
  return `this machine's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the store's`;
}
