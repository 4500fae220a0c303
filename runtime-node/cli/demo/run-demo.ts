import type { FeedStats } from '../../feed/stats.js';
import { openFeed } from '../../index.js';
import type { CommandContext, CommandResult } from '../command.js';
import { EmulatedGpu } from '../feed/emulated-step.js';
import { progressDetail } from '../feed/report.js';
import { EmbeddedStore, type StoreAddress, withCredentials } from './embedded-store.js';
import { DEMO, demoObjects, demoTruth } from './plan.js';
import { comparison, demoDocument } from './report.js';
import { Verifier } from './verifier.js';

/** What one policy came to. */
export interface DemoRun {
  readonly policy: string;
  readonly stats: FeedStats;
  readonly bytesVerified: number;
}

/** The main job on the embedded store, once with each policy. */
export async function runDemo(context: CommandContext): Promise<CommandResult> {
  const { log } = context;
  const objects = demoObjects();
  const truth = demoTruth(objects);
  const store = await EmbeddedStore.start();
  try {
    log.info(`the embedded store listens at ${store.address.endpoint}, in a process of its own`);
    const runs = await withCredentials(store.address, async () => {
      const done: DemoRun[] = [];
      for (const policy of DEMO.policies) {
        log.info(`${policy}: ${EXPLAINED[policy]}`);
        done.push(await runPolicy(policy, store.address, truth, context));
      }
      return done;
    });
    return { document: demoDocument(objects, runs), text: comparison(objects, runs) };
  } finally {
    await store.close();
  }
}

const EXPLAINED: Record<(typeof DEMO.policies)[number], string> = {
  sync: 'one request at a time, as a naive client reads (this takes the longest)',
  readahead: 'a fixed window and 16 requests at a time',
  os2g: 'window and concurrency follow what the GPU and the store do',
};

async function runPolicy(
  policy: string,
  { endpoint, region }: StoreAddress,
  truth: ReadonlyMap<string, Uint8Array>,
  { signal, stderr }: CommandContext,
): Promise<DemoRun> {
  const verifier = new Verifier(truth);
  const feed = await openFeed({
    source: `s3://${DEMO.bucket}/train/`,
    s3: { endpoint, region },
    batchSamples: DEMO.batchSamples,
    seed: DEMO.seed,
    memoryBytes: DEMO.memoryBytes,
    policy,
    signal,
  });
  const progress = stderr.progress(policy.padEnd(9));
  const total = DEMO.samples / DEMO.batchSamples;
  try {
    const gpu = new EmulatedGpu(DEMO.stepNs, signal);
    let done = 0;
    const show = (): void => progress.update({ done, total, detail: progressDetail(feed.snapshot()) });
    const redraw = setInterval(show, 100);
    try {
      for await (const batch of feed) {
        verifier.check(batch);
        feed.busy(await gpu.step());
        done++;
      }
    } finally {
      clearInterval(redraw);
    }
  } finally {
    progress.stop();
    await feed.close();
  }
  verifier.finish();
  return { policy, stats: feed.stats(), bytesVerified: verifier.bytes };
}
