// Reads one epoch of a prefix: node docs/examples/feed.mjs s3://bucket/prefix/
import { Os2gError, openFeed } from 'os2g';

async function readEpoch(source) {
  const feed = await openFeed({ source, batchSamples: 8, epochs: 1, seed: 7, memoryBytes: 64 * 2 ** 20 });
  let bytes = 0;
  for await (const batch of feed) {
    for (let i = 0; i < batch.length; i++) {
      if (batch.skipped(i)) continue;
      // A view of landing memory, not a copy: it holds until the next step of the loop.
      bytes += batch.bytes(i).length;
    }
    // Save batch.cursor with the model: `openFeed({ ..., resume: cursor })` goes on after this batch.
  }
  const { samples, batches, requests, run_hash } = feed.stats();
  console.log(JSON.stringify({ samples, batches, bytes, requests, run_hash }));
}

try {
  const [source] = process.argv.slice(2);
  if (source === undefined) {
    console.error('name a prefix: node docs/examples/feed.mjs s3://bucket/prefix/');
    process.exitCode = 2;
  } else await readEpoch(source);
} catch (error) {
  // What os2g raises on purpose says what, where, and what to do; all else is a fault of the program.
  if (!(error instanceof Os2gError)) throw error;
  console.error(`${error.message}\nto mend it: ${error.mend}`);
  process.exitCode = error.exitCode;
}
