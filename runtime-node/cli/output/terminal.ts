import pico from 'picocolors';

export type Colors = ReturnType<typeof pico.createColors>;

/** A stream of the process: enough of it for output and for tests. */
export interface Sink {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Colours on a terminal, unless NO_COLOR (any value but the empty one) or TERM=dumb says no; FORCE_COLOR says yes. */
export function colorsFor(sink: Sink, env: Readonly<Record<string, string | undefined>>): Colors {
  if (env.NO_COLOR) return pico.createColors(false);
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return pico.createColors(true);
  return pico.createColors(sink.isTTY === true && env.TERM !== 'dumb');
}
