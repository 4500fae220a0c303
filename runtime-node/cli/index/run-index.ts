import { existsSync } from 'node:fs';
import { ConfigError } from '../../errors.js';
import type { FormatChoice, FormatName } from '../../formats/format.js';
import { formatByName } from '../../formats/pipeline/detect.js';
import { type IndexedRows, indexRows, workFileOf } from '../../formats/pipeline/index-run.js';
import { OldManifest } from '../../formats/pipeline/old-manifest.js';
import { type EngineRangeReader, openRangeReader } from '../../formats/pipeline/range-reader.js';
import { refuseImageSize } from '../../formats/pipeline/sized-objects.js';
import { looksLikeWorkFile } from '../../formats/pipeline/work-file.js';
import { FORMATS } from '../../formats/registry.js';
import { readManifest } from '../../manifest/arrow-file.js';
import { noteLines } from '../../manifest/listing-notes.js';
import { writeRows } from '../../manifest/write-rows.js';
import { checkOutputs, type Output } from '../../output-files.js';
import { parseS3Url, type S3Options } from '../../s3/location.js';
import { openStore, type S3Store } from '../../s3/store.js';
import type { CommandContext, CommandResult } from '../command.js';
import { counted } from '../output/numbers.js';
import { indexResult } from './index-document.js';
import { IndexDisplay } from './index-progress.js';

/** What one call of `os2g index` is asked to do. */
export interface IndexCall {
  source: string;
  output: string;
  format: FormatChoice;
  concurrency: number;
  /** Width and height of pictures are read, too. */
  imageSize: boolean;
  /** The output is there already, and only what changed is read. */
  update: boolean;
  s3: S3Options;
}

/** Lists a prefix, reads what says where its samples lie, and writes the manifest. */
export async function runIndex(call: IndexCall, context: CommandContext): Promise<CommandResult> {
  if (call.format !== 'auto') formatByName(call.format, FORMATS);
  if (call.imageSize && call.format !== 'auto') refuseImageSize(call.format);
  const { bucket, prefix } = parseS3Url(call.source);
  // Before an hour of reading, not after it.
  checkOutputs([manifestFile(call.output), workFile(call.output)], []);
  const old = call.update ? await openOld(call, { bucket, prefix }) : null;
  const store = await openStore(call.s3);
  store.onRetry = (what) => context.log.warn(what);
  try {
    return await indexFrom(store, { ...call, bucket, prefix, old }, context);
  } finally {
    await store.close();
  }
}

const manifestFile = (path: string): Output => ({
  ...{ option: 'output', path, kind: 'a manifest' },
  isOurs: () => true,
});

const workFile = (output: string): Output => ({
  ...{ option: 'output', path: workFileOf(output), kind: 'a work file', isOurs: looksLikeWorkFile },
  mend: 'move it away, or name another output: what is indexed is kept beside it until the manifest is whole',
});

async function openOld(call: IndexCall, of: { bucket: string; prefix: string }): Promise<OldManifest> {
  const old = new OldManifest(await readManifest(call.output), call.output, of);
  if (old.format !== null && (call.format === 'auto' || call.format === old.format)) return old;
  throw new ConfigError(
    'bad_update',
    `${call.output} cannot be updated: it is of ${old.format === null ? 'no format that it names' : `the format ${old.format}`}`,
    'index anew, without --update',
    { option: 'update', file: call.output },
  );
}

type StoreCall = IndexCall & { bucket: string; prefix: string; old: OldManifest | null };

async function indexFrom(store: S3Store, call: StoreCall, context: CommandContext): Promise<CommandResult> {
  const { bucket, prefix, output, concurrency, imageSize, old } = call;
  const isAsBefore = call.format === 'auto' && old !== null;
  const { log, signal } = context;
  const beginMs = performance.now();
  const display = new IndexDisplay(context.stderr);
  let reader: EngineRangeReader | null = null;
  const openReader = async (): Promise<EngineRangeReader> => {
    reader = await openRangeReader(store, bucket, { concurrency, onNotice: (notice) => log.warn(notice) });
    return reader;
  };
  let rows: IndexedRows | null = null;
  let isDone = false;
  try {
    rows = await indexRows({
      ...{ bucket, prefix, output, concurrency, imageSize, old, signal, openReader, lister: store },
      format: isAsBefore ? (old.format as FormatName) : call.format,
      onProgress: (progress) => display.show(progress),
      onFormat: (name, why) =>
        log.info(`samples are of the format ${name}: ${isAsBefore ? 'as the manifest says' : why}`),
    });
    display.stop();
    tell(rows, prefix, output, log);
    const { format, plannedFrom } = rows;
    const written = await writeRows(output, { bucket, prefix, format, plannedFrom }, rows, { signal });
    isDone = true;
    const read = reader as EngineRangeReader | null;
    return indexResult(written, rows, {
      ...{ source: call.source, output, seconds: (performance.now() - beginMs) / 1000 },
      ...{ listRequests: store.listRequests, requests: read?.requests ?? 0, bytesRead: read?.bytesRead ?? 0 },
    });
  } catch (error) {
    if (existsSync(workFileOf(output)))
      log.info(`what was indexed so far is kept in ${workFileOf(output)}: the same call goes on from it`);
    throw error;
  } finally {
    display.stop();
    rows?.close(isDone);
    await (reader as EngineRangeReader | null)?.close();
  }
}

function tell(rows: IndexedRows, prefix: string, output: string, log: CommandContext['log']): void {
  const { fromWorkFile } = rows.pieces;
  if (fromWorkFile > 0) {
    log.info(
      `${counted(fromWorkFile, 'object')} had been read by an earlier run and ${fromWorkFile === 1 ? 'was' : 'were'} skipped: ${workFileOf(output)}`,
    );
  }
  for (const line of [...noteLines(rows.listing, prefix), ...rows.notes]) log.warn(line);
  if (existsSync(output)) log.info(`${output} exists: it is replaced once the new one is whole`);
}
