/** What one round measures. */
export const VARIANTS = [
  'unbatched',
  'batched',
  'unbatched-traced',
  'batched-traced',
  'empty-step',
  'empty-call',
] as const;
export type Variant = (typeof VARIANTS)[number];

/** Events of one step in the batched variants. */
export const BATCHED_EVENTS = 64;

/** One round, as the process that ran it reports it. */
export interface RoundResult {
  variant: Variant;
  /** Wall time of the round. */
  ns: number;
  /** Events taken, or empty steps or calls made. */
  events: number;
  actions: number;
  steps: number;
  /** Requests in flight at the end of the round. */
  inFlight: number;
}

export interface RoundOrder {
  variant: Variant;
  events: number;
}
