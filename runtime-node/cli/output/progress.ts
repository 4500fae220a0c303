import { MultiBar, type SingleBar } from 'cli-progress';
import type { Colors, Sink } from './terminal.js';

export type ProgressMode = 'auto' | 'always' | 'never';

/** How far something has come. `total` 0: not known. */
export interface ProgressState {
  readonly done: number;
  readonly total: number;
  /** The rest of the line: rates, window, ... */
  readonly detail: string;
}

/** One progress display on standard error; log lines pass above it. */
export interface Progress {
  update(state: ProgressState): void;
  stop(): void;
}

/** Standard error: log lines, and at most one progress display that they do not tear. */
export class StandardError {
  readonly colors: Colors;
  readonly #sink: Sink;
  readonly #mode: ProgressMode;
  #bars: MultiBar | null = null;

  constructor(sink: Sink, mode: ProgressMode, colors: Colors) {
    this.#sink = sink;
    this.#mode = mode;
    this.colors = colors;
  }

  line(text: string): void {
    if (!this.#bars) {
      this.#sink.write(`${text}\n`);
      return;
    }
    this.#bars.log(`${text}\n`);
    // Drawn at once: what still waited for the next frame would be lost at `stop`.
    this.#bars.update();
  }

  /** A bar on a terminal; with `always` elsewhere a line every two seconds; otherwise nothing. */
  progress(title: string): Progress {
    if (this.#mode === 'never' || (this.#mode === 'auto' && this.#sink.isTTY !== true)) {
      return { update: () => {}, stop: () => {} };
    }
    return this.#sink.isTTY === true ? this.#bar(title) : this.#lines(title);
  }

  #bar(title: string): Progress {
    const bars = new MultiBar({
      format: `${title} [{bar}] {percentage}% {detail}`,
      stream: this.#sink as NodeJS.WritableStream,
      barsize: 24,
      fps: 10,
      hideCursor: true,
      clearOnComplete: true,
      gracefulExit: false,
      emptyOnZero: true,
    });
    let bar: SingleBar | null = null;
    return {
      update: ({ done, total, detail }) => {
        const isFirst = bar === null;
        bar ??= bars.create(total, done, { detail });
        this.#bars = bars;
        bar.setTotal(Math.max(total, done));
        bar.update(done, { detail });
        if (isFirst) bars.update();
      },
      stop: () => {
        if (bar) bars.stop();
        if (this.#bars === bars) this.#bars = null;
      },
    };
  }

  #lines(title: string): Progress {
    let lastMs = Number.NEGATIVE_INFINITY;
    return {
      update: ({ done, total, detail }) => {
        const nowMs = performance.now();
        if (nowMs - lastMs < 2000) return;
        lastMs = nowMs;
        const share = total > 0 ? `${Math.floor((done / total) * 100)}%` : String(done);
        this.line(`${title} ${share} ${detail}`);
      },
      stop: () => {},
    };
  }
}
