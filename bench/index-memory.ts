// How much memory `os2g index` takes for plain objects: a listing made up page by page, sorted, written as a manifest. The listing
// comes in the store's order, or shuffled as some stores give it; `sized`: in the store's order, and each object is looked into for the size
// of its picture, which memory answers. Prints one JSON document.
//
//     node dist/bench/index-memory.js [OBJECTS] [sorted|shuffled|sized] [FOLDER]
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RangeReader } from '../runtime-node/formats/format.js';
import { indexRows } from '../runtime-node/formats/pipeline/index-run.js';
import { writeRows } from '../runtime-node/manifest/write-rows.js';
import type { ListedObject } from '../runtime-node/s3/listing.js';

const PAGE = 1000;
const CLASSES = 1000;
/** Prime, and so no divisor of the number of objects unless that is a multiple of it: a step that visits each once. */
const STRIDE = 7_368_787;

const objects = Number(process.argv[2] ?? 10_000_000);
const order = process.argv[3] ?? 'sorted';
const isShuffled = order === 'shuffled';
const imageSize = order === 'sized';
/** The smallest start of a JPEG file that has a frame header: 320 x 240. */
const PICTURE = Buffer.from('ffd8ffc0001108014000f003012200021101031101', 'hex');

/** Answers each read with the same start of a picture. */
const pictures: RangeReader = {
  read: async (_object, offset, length) => PICTURE.subarray(offset, offset + length),
  stat: () => Promise.reject(new Error('all objects are listed')),
};
const folder = mkdtempSync(join(process.argv[4] ?? tmpdir(), 'os2g-index-memory-'));

/** 44 bytes of key and an ETag of 34, as S3 gives them; in bytewise order by number. */
function object(n: number): ListedObject {
  const name = String(n).padStart(10, '0');
  const key = `imagenet/train/class-${String(Math.floor((n * CLASSES) / objects)).padStart(4, '0')}/n${name}.JPEG`;
  const etag = `"${name}${name}${name}ab"`;
  return { key, sizeBytes: 110_000 + (n % 50_000), etag, storageClass: 'STANDARD', archived: false };
}

async function* listObjects(): AsyncGenerator<ListedObject[]> {
  for (let from = 0; from < objects; from += PAGE) {
    const page: ListedObject[] = [];
    for (let n = from; n < Math.min(objects, from + PAGE); n++) {
      page.push(object(isShuffled ? Number((BigInt(n) * BigInt(STRIDE)) % BigInt(objects)) : n));
    }
    yield page;
  }
}

const output = join(folder, 'm.arrow');
const beginMs = performance.now();
try {
  const rows = await indexRows({
    lister: { listObjects },
    openReader: async () => {
      if (imageSize) return pictures;
      throw new Error('plain objects are not read');
    },
    ...{ bucket: 'bucket', prefix: 'imagenet/', format: 'auto', concurrency: 16, output, imageSize },
  });
  const listedMs = performance.now() - beginMs;
  const written = await writeRows(output, { bucket: 'bucket', prefix: 'imagenet/', format: 'objects' }, rows);
  rows.close(true);
  const document = {
    objects: written.rows,
    order,
    ...(rows.pictures === null ? {} : { pictures: rows.pictures }),
    rss_peak_mib: Math.round(process.resourceUsage().maxRSS / 1024),
    listed_s: Math.round(listedMs / 100) / 10,
    wall_s: Math.round((performance.now() - beginMs) / 100) / 10,
    cpu_s: Math.round(process.cpuUsage().user / 1e5) / 10,
    manifest_bytes: statSync(output).size,
    dataset_hash: written.datasetHash,
  };
  process.stdout.write(`${JSON.stringify(document)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
