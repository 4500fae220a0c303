import type { Rig } from './rig.js';
import { Truth } from './truth.js';

const DEFAULT_OBJECTS = 2_000;
const PREFIX = 'train/';

/** Objects of the large data set; OS2G_TEST_OBJECTS says otherwise. */
export function testObjects(): number {
  const objects = Number(process.env.OS2G_TEST_OBJECTS ?? DEFAULT_OBJECTS);
  if (!Number.isInteger(objects) || objects < 500) {
    throw new Error('OS2G_TEST_OBJECTS must be a whole number from 500 on');
  }
  return objects;
}

/** Puts a data set into the store, tells how long that took, and indexes it. */
export async function storeTruth(rig: Rig, seed: number): Promise<{ truth: Truth; manifest: string }> {
  const truth = new Truth({ seed, objects: testObjects(), prefix: PREFIX });
  const beginMs = performance.now();
  await rig.store.writer.putAll(rig.store.bucket, truth.objects());
  const seconds = (performance.now() - beginMs) / 1000;
  const size = `${truth.keys.length} objects, ${(truth.totalBytes / 1e6).toFixed(0)} MB`;
  process.stdout.write(`${size} stored in ${seconds.toFixed(1)} s\n`);
  const manifest = rig.file('train.arrow');
  await rig.result(['index', rig.url(PREFIX), '-o', manifest]);
  return { truth, manifest };
}
