import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AsyncByteQueue, Message, RecordBatchFileWriter, type Schema } from 'apache-arrow';
import { AbortedError, ConfigError, Os2gError } from '../errors.js';
import { linkTarget } from '../output-files.js';
import { removeStaleBeside, temporaryBeside } from '../temporary-files.js';
import { manifestSchema, sliceBatch } from './arrow-slices.js';
import type { ColumnManifest } from './column-manifest.js';

/** Rows of a record batch. The file's bytes depend on it, so it is no option. */
const BATCH_ROWS = 65_536;

/**
 * Writes a manifest as an Arrow IPC file, batch by batch into a temporary file beside the target, which is then renamed:
 * the target is the old file or the whole new one, never a part. The same rows give the same bytes.
 * @throws ConfigError `bad_output` where the target cannot be made; Os2gError `write_failed` where writing fails
 */
export async function writeManifest(
  path: string,
  source: ColumnManifest,
  { signal }: { signal?: AbortSignal } = {},
): Promise<void> {
  const target = await targetOf(path);
  const temporary = temporaryBeside(target);
  removeStaleBeside(target);
  const handle = await create(temporary, path);
  try {
    await writeBatches(handle, source, signal);
    await handle.sync();
    await handle.close();
    await rename(temporary, target);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    if (error instanceof Os2gError) throw error;
    throw writeFailed(path, error);
  }
  await syncFolder(dirname(target));
}

/** Takes what the writer makes, for one batch; the library's own queue would hold the whole file. */
class ChunkSink extends AsyncByteQueue {
  chunks: Uint8Array[] = [];

  override write(chunk: Parameters<AsyncByteQueue['write']>[0]): void {
    if (!ArrayBuffer.isView(chunk)) throw new TypeError('the Arrow writer gave something other than bytes');
    this.chunks.push(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
  }

  take(): Uint8Array {
    const bytes = Buffer.concat(this.chunks);
    this.chunks = [];
    return bytes;
  }
}

/**
 * The library leaves the schema out of the stream that the file holds and gives it in the footer only; readers that take
 * the file as a stream (nanoarrow, DuckDB) need it there, and the format says that it is.
 */
class ManifestFileWriter extends RecordBatchFileWriter {
  protected override _writeSchema(schema: Schema): this {
    super._writeSchema(schema);
    return this._writeMessage(Message.from(schema));
  }
}

async function writeBatches(handle: FileHandle, source: ColumnManifest, signal?: AbortSignal): Promise<void> {
  const sink = new ChunkSink();
  const schema = manifestSchema(source);
  const writer = new ManifestFileWriter();
  writer.reset(sink, schema);
  for (let row = 0; row < source.rows; row += BATCH_ROWS) {
    if (signal?.aborted) throw new AbortedError(signal.reason);
    writer.write(sliceBatch(source, schema, row, Math.min(source.rows, row + BATCH_ROWS)));
    await writeFully(handle, sink.take());
  }
  writer.close();
  await writeFully(handle, sink.take());
}

async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at);
    at += bytesWritten;
  }
}

/** The file that is to be replaced, links followed: renaming over a link or a device would destroy it. */
async function targetOf(path: string): Promise<string> {
  const target = linkTargetOf(path);
  const found = await stat(target).catch(() => null);
  if (found !== null && !found.isFile()) {
    throw new ConfigError(
      'bad_output',
      `${path} is not a file`,
      'name a file to write, not a folder or device',
      {
        file: path,
      },
    );
  }
  return target;
}

function linkTargetOf(path: string): string {
  try {
    return linkTarget(path);
  } catch (cause) {
    throw new ConfigError(
      'bad_output',
      `${path} cannot be written (${codeOf(cause)})`,
      'name a file to write',
      {
        file: path,
        cause,
      },
    );
  }
}

async function create(temporary: string, path: string): Promise<FileHandle> {
  try {
    return await open(temporary, 'wx');
  } catch (cause) {
    const what = `${path} cannot be written (${codeOf(cause)})`;
    throw new ConfigError(
      'bad_output',
      what,
      `check that the folder ${dirname(path)} exists and can be written`,
      {
        file: path,
        cause,
      },
    );
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null);
  // Some file systems cannot sync a folder; the file itself is whole and synced.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

function writeFailed(path: string, cause: unknown): Os2gError {
  const code = codeOf(cause);
  const isFull = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
  return new Os2gError(
    'write_failed',
    isFull ? `${path}: no room for the manifest (${code})` : `${path}: writing the manifest failed (${code})`,
    isFull ? 'free disk space or raise the limit, then run again; nothing was left behind' : 'check the disk',
    { file: path, cause },
  );
}

function codeOf(cause: unknown): string {
  return cause instanceof Error ? ('code' in cause ? String(cause.code) : cause.message) : String(cause);
}
