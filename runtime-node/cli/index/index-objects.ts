import { existsSync } from 'node:fs';
import { writeManifest } from '../../manifest/arrow-file.js';
import { describeManifest, type ManifestDescription } from '../../manifest/describe.js';
import { type ListingNotes, listManifest } from '../../manifest/index-objects.js';
import { noteLines } from '../../manifest/listing-notes.js';
import { parseS3Url, type S3Options } from '../../s3/location.js';
import { openStore } from '../../s3/store.js';
import type { CommandContext, CommandResult } from '../command.js';
import { counted, formatCount, formatDecimalBytes, formatFigure, formatSeconds } from '../output/numbers.js';
import { facts } from '../output/table.js';

/** Lists a prefix and writes its manifest, one object a sample. */
export async function indexObjects(
  source: string,
  output: string,
  s3: S3Options,
  context: CommandContext,
): Promise<CommandResult> {
  const { bucket, prefix } = parseS3Url(source);
  const beginMs = performance.now();
  const store = await openStore(s3);
  store.onRetry = (what) => context.log.warn(what);
  try {
    const { manifest, notes } = await listWithProgress(store, bucket, prefix, context);
    for (const line of noteLines(notes, prefix)) context.log.warn(line);
    if (existsSync(output)) context.log.info(`${output} exists: it is replaced once the new one is whole`);
    await writeManifest(output, manifest);
    const seconds = (performance.now() - beginMs) / 1000;
    return result(
      { source, output, seconds, listRequests: store.listRequests },
      describeManifest(manifest),
      notes,
    );
  } finally {
    await store.close();
  }
}

async function listWithProgress(
  store: Awaited<ReturnType<typeof openStore>>,
  bucket: string,
  prefix: string,
  { stderr, signal }: CommandContext,
): ReturnType<typeof listManifest> {
  const progress = stderr.progress('listing');
  const beginMs = performance.now();
  const onProgress = ({ objects, pages }: { objects: number; pages: number }): void => {
    const rate = (objects * 1000) / Math.max(1, performance.now() - beginMs);
    const detail = `${counted(objects, 'object')}  ${counted(pages, 'page')}  ${formatFigure(rate)}/s`;
    progress.update({ done: objects, total: 0, detail });
  };
  try {
    return await listManifest(store, bucket, prefix, { signal, onProgress });
  } finally {
    progress.stop();
  }
}

function result(
  call: { source: string; output: string; seconds: number; listRequests: number },
  manifest: ManifestDescription,
  notes: ListingNotes,
): CommandResult {
  const document = {
    schema: 'os2g.index-result/1',
    source: call.source,
    manifest: call.output,
    format: 'objects',
    samples: manifest.rows,
    objects: manifest.objects,
    bytes: manifest.totalLength,
    min_length: manifest.minLength,
    median_length: manifest.medianLength,
    max_length: manifest.maxLength,
    labels: manifest.labels,
    dataset_hash: manifest.datasetHash,
    list_requests: call.listRequests,
    wall_s: call.seconds,
    notes,
  };
  const text = facts([
    ['manifest', call.output],
    ['format', 'objects: one object, one sample'],
    ['samples', formatCount(manifest.rows)],
    ['bytes', formatDecimalBytes(manifest.totalLength)],
    [
      'lengths',
      `${formatCount(manifest.minLength)} to ${formatCount(manifest.maxLength)} bytes, median ${formatCount(manifest.medianLength)}`,
    ],
    [
      'labels',
      manifest.labels === 0 ? 'none' : `${formatCount(manifest.labels)}, from the folder of each key`,
    ],
    ['data set', manifest.datasetHash],
    ['time', `${formatSeconds(call.seconds)}, ${counted(call.listRequests, 'list request')}`],
  ]);
  return { document, text };
}
