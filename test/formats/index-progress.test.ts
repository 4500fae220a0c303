import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IndexDisplay } from '../../runtime-node/cli/index/index-progress.js';
import type { ProgressState, StandardError } from '../../runtime-node/cli/output/progress.js';
import type { IndexProgress } from '../../runtime-node/formats/pipeline/index-run.js';

/** What would be drawn, with the seconds that numbers depend on left out. */
function shown(states: readonly IndexProgress[]): string[] {
  const lines: string[] = [];
  const stderr = {
    progress: (title: string) => ({
      update: ({ done, total, detail }: ProgressState) =>
        lines.push(
          `${title} ${done}/${total} ${detail.replaceAll(/[\d,.]+\/s/g, 'N/s').replace(/about .* left/, 'about T left')}`,
        ),
      stop: () => lines.push(`${title} ends`),
    }),
  };
  const display = new IndexDisplay(stderr as unknown as StandardError);
  for (const state of states) display.show(state);
  display.stop();
  return lines;
}

test('listing, then reading: counts, rate, and the time that is left once there is a rate', () => {
  const lines = shown([
    { phase: 'listing', objects: 1000, pages: 1 },
    { phase: 'listing', objects: 1500, pages: 2 },
    { phase: 'reading', pieces: 40, piecesDone: 0, samples: 0 },
    { phase: 'reading', pieces: 40, piecesDone: 1, samples: 250 },
  ]);
  assert.equal(lines, [
    'listing 1000/0 1,000 objects  1 page  N/s',
    'listing 1500/0 1,500 objects  2 pages  N/s',
    'listing ends',
    'reading 0/40 0/40 objects  0 samples  N/s',
    'reading 1/40 1/40 objects  250 samples  N/s  about T left',
    'reading ends',
  ]);
});

test('samples of an earlier run count for no rate', () => {
  const [first] = shown([{ phase: 'reading', pieces: 2, piecesDone: 0, samples: 1e6 }]);
  assert.is(first, 'reading 0/2 0/2 objects  1,000,000 samples  N/s');
  const rates: string[] = [];
  const stderr = {
    progress: () => ({ update: ({ detail }: ProgressState) => rates.push(detail), stop: () => {} }),
  };
  const display = new IndexDisplay(stderr as unknown as StandardError);
  display.show({ phase: 'reading', pieces: 2, piecesDone: 0, samples: 1e6 });
  assert.match(rates[0] ?? '', / 0\/s/);
});

test.run();
