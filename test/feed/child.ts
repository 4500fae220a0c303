import { openFeed } from '../../runtime-node/feed/open.js';
import type { FeedOptions } from '../../runtime-node/feed/options.js';

/** What the process that feeds is told, as JSON in its only argument. */
export interface ChildTask {
  options: FeedOptions;
  /** Emulated compute of one batch. */
  stepMs: number;
}

// A process that feeds and prints its result: to be killed, and to have its memory measured.
const { options, stepMs } = JSON.parse(process.argv[2] ?? '') as ChildTask;
const before = process.memoryUsage().rss;
const feed = await openFeed(options);
let touched = 0;
for await (const batch of feed) {
  for (let i = 0; i < batch.length; i++) {
    const bytes = batch.bytes(i);
    for (let at = 0; at < bytes.length; at += 4096) touched += bytes[at] ?? 0;
  }
  if (stepMs > 0) await new Promise((resolve) => setTimeout(resolve, stepMs));
}
console.log(JSON.stringify({ ...feed.stats(), touched, rss_before: before }));
