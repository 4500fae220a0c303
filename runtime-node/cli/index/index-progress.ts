import type { IndexProgress } from '../../formats/pipeline/index-run.js';
import { counted, formatFigure, formatSeconds } from '../output/numbers.js';
import type { Progress, StandardError } from '../output/progress.js';

/** Shows how far an index run has come, at what rate, and when it may be done. */
export class IndexDisplay {
  private progress: Progress | null = null;
  private phase: IndexProgress['phase'] | null = null;
  private beginMs = 0;
  private before = 0;

  constructor(private readonly stderr: StandardError) {}

  show(state: IndexProgress): void {
    if (state.phase !== this.phase) this.begin(state);
    const seconds = Math.max(0.001, (performance.now() - this.beginMs) / 1000);
    this.progress?.update(
      state.phase === 'listing' ? listing(state, seconds) : reading(state, this.before, seconds),
    );
  }

  stop(): void {
    this.progress?.stop();
    this.progress = null;
    this.phase = null;
  }

  private begin(state: IndexProgress): void {
    this.stop();
    this.phase = state.phase;
    this.beginMs = performance.now();
    this.before = state.phase === 'reading' ? state.samples : 0;
    this.progress = this.stderr.progress(state.phase);
  }
}

type Of<P extends IndexProgress['phase']> = Extract<IndexProgress, { phase: P }>;

function listing({ objects, pages }: Of<'listing'>, seconds: number) {
  const detail = `${counted(objects, 'object')}  ${counted(pages, 'page')}  ${formatFigure(objects / seconds)}/s`;
  return { done: objects, total: 0, detail };
}

/** @param before samples that earlier runs had found: they count for no rate */
function reading({ pieces, piecesDone, samples }: Of<'reading'>, before: number, seconds: number) {
  const rate = `${formatFigure((samples - before) / seconds)}/s`;
  const left =
    piecesDone === 0 ? '' : `  about ${formatSeconds(((pieces - piecesDone) * seconds) / piecesDone)} left`;
  const detail = `${piecesDone}/${counted(pieces, 'object')}  ${counted(samples, 'sample')}  ${rate}${left}`;
  return { done: piecesDone, total: pieces, detail };
}
