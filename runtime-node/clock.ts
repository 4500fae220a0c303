/** The one clock of a feed: whole nanoseconds since it was made, never backwards. Tests bring their own. */
export interface Clock {
  nowNs(): number;
}

export function monotonicClock(): Clock {
  const origin = performance.now();
  let last = 0;
  return {
    nowNs(): number {
      const now = Math.floor((performance.now() - origin) * 1e6);
      if (now > last) last = now;
      return last;
    },
  };
}
