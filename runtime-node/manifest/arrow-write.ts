import { type FileHandle, open, rename, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AsyncByteQueue, Message, RecordBatchFileWriter, type Schema } from 'apache-arrow';
import { AbortedError, ConfigError, Os2gError } from '../errors.js';
import { linkTarget } from '../output-files.js';
import { removeStaleBeside, temporaryBeside } from '../temporary-files.js';
import { manifestSchema, optionalColumns, sliceBatch } from './arrow-slices.js';
import type { ColumnManifest, ManifestFacts } from './column-manifest.js';
import type { OptionalColumn, RowBatch } from './row-batch.js';
import { BATCH_ROWS } from './row-batches.js';

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
  const { facts, batches, rows } = source;
  const writer = await ManifestWriter.open(path, facts, optionalColumns(batches));
  try {
    for (let row = 0; row < rows; row += BATCH_ROWS) {
      if (signal?.aborted) throw new AbortedError(signal.reason);
      await writer.write(batches, row, Math.min(rows, row + BATCH_ROWS));
    }
    await writer.finish();
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

/** A manifest that is being written: the file takes its name at `finish`, and leaves nothing behind at `discard`. */
export class ManifestWriter {
  private readonly sink = new ChunkSink();
  private readonly arrow = new ManifestFileWriter();

  private constructor(
    private readonly path: string,
    private readonly target: string,
    private readonly temporary: string,
    private readonly handle: FileHandle,
    private readonly schema: Schema,
  ) {
    this.arrow.reset(this.sink, schema);
  }

  /** @param optional the optional columns that the file is to have; rows without a value are null in them */
  static async open(
    path: string,
    facts: ManifestFacts,
    optional: readonly OptionalColumn[],
  ): Promise<ManifestWriter> {
    const target = await targetOf(path);
    const temporary = temporaryBeside(target);
    removeStaleBeside(target);
    const handle = await create(temporary, path);
    return new ManifestWriter(path, target, temporary, handle, manifestSchema(facts, optional));
  }

  /** Appends rows `[from, to)` of the batches as one record batch. */
  async write(batches: readonly RowBatch[], from: number, to: number): Promise<void> {
    this.arrow.write(sliceBatch(batches, this.schema, from, to));
    await this.guard(() => writeFully(this.handle, this.sink.take()));
  }

  async finish(): Promise<void> {
    this.arrow.close();
    await this.guard(async () => {
      await writeFully(this.handle, this.sink.take());
      await this.handle.sync();
      await this.handle.close();
      await rename(this.temporary, this.target);
    });
    await syncFolder(dirname(this.target));
  }

  async discard(): Promise<void> {
    await this.handle.close().catch(() => undefined);
    await unlink(this.temporary).catch(() => undefined);
  }

  private async guard(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw writeFailed(this.path, error);
    }
  }
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
