import { STALL_NAMES } from '../../feed/stats.js';
import {
  formatCount,
  formatDecimalBytes,
  formatFigure,
  formatSeconds,
  formatShare,
} from '../output/numbers.js';
import { table } from '../output/table.js';
import { DEMO, type DemoObject } from './plan.js';
import type { DemoRun } from './run-demo.js';

const totalBytes = (objects: readonly DemoObject[]): number =>
  objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** `os2g.demo-result/1` */
export function demoDocument(
  objects: readonly DemoObject[],
  runs: readonly DemoRun[],
): Record<string, unknown> {
  return {
    schema: 'os2g.demo-result/1',
    dataset: { samples: objects.length, bytes: totalBytes(objects) },
    batch_samples: DEMO.batchSamples,
    step_time_s: DEMO.stepNs / 1e9,
    store: { first_byte_ms: DEMO.firstByteMs, slow_tail: DEMO.slowTail },
    pipelines: runs.map(({ policy, bytesVerified, stats }) => {
      const { schema: _schema, policy: _settings, ...figures } = stats;
      return { policy, bytes_verified: bytesVerified, ...figures };
    }),
  };
}

/** The comparison for people, and what to try next. */
export function comparison(objects: readonly DemoObject[], runs: readonly DemoRun[]): string {
  const row = (name: string, cell: (run: DemoRun) => string): string[] => [name, ...runs.map(cell)];
  const stalled = STALL_NAMES.filter((cause) => runs.some(({ stats }) => stats.stall_s[cause] >= 0.01));
  const rows = [
    row('', ({ policy }) => policy),
    row('samples/s', ({ stats }) => formatFigure(stats.samples_per_s)),
    row('epoch', ({ stats }) => formatSeconds(stats.wall_s)),
    row('GPU busy', ({ stats }) => formatShare(stats.gpu_busy_share ?? Number.NaN)),
    ...stalled.map((cause) => row(`stalled: ${cause}`, ({ stats }) => formatSeconds(stats.stall_s[cause]))),
    row('requests', ({ stats }) => formatCount(stats.requests)),
    row('of them hedges', ({ stats }) => formatCount(stats.hedges)),
    row('client CPU', ({ stats }) => formatSeconds(stats.cpu_s)),
    row('bytes verified', ({ bytesVerified }) => formatDecimalBytes(bytesVerified)),
    row('run hash', ({ stats }) => stats.run_hash),
  ];
  const [first, last] = [runs[0], runs.at(-1)];
  const times = first && last ? last.stats.samples_per_s / first.stats.samples_per_s : Number.NaN;
  return [
    `One epoch of ${formatCount(objects.length)} samples (${formatDecimalBytes(totalBytes(objects))}) from the embedded S3 store: first byte after ${DEMO.firstByteMs.median} ms`,
    `in the median, 1 of ${1 / DEMO.slowTail.share} ten times as slow; an emulated GPU step of ${DEMO.stepNs / 1e6} ms for each ${DEMO.batchSamples} samples.`,
    '',
    table(rows),
    '',
    `Every byte of every sample was compared with the truth. ${last?.policy} fed ${formatFigure(times)} times as many samples a second as ${first?.policy}.`,
    '',
    'Next:',
    '  os2g doctor                                        what works on this machine',
    '  os2g index s3://bucket/prefix -o train.arrow       a manifest of your own data set',
    '  os2g feed --manifest train.arrow --batch-samples 256 --step-time 100ms',
    '  os2g feed --help-settings                          what a policy can be told',
  ].join('\n');
}
