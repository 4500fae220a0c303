import { type FileHandle, open, stat } from 'node:fs/promises';
import { ConfigError, Os2gError } from '../errors.js';
import { words } from '../wording.js';
import { parseManifest } from './arrow-table.js';
import type { ColumnManifest } from './column-manifest.js';

export { writeManifest } from './arrow-write.js';

/** Offsets into the file are kept in 32 bits, and Node's buffers end there, too. */
const MAX_BYTES = 2 ** 32 - 1;
const READ_BYTES = 64 * 1024 * 1024;

/**
 * Opens a manifest: reads the file once, checks every row, and keeps the file's bytes as the columns.
 * @throws ConfigError that says file, row, column and what to do
 */
export async function readManifest(path: string): Promise<ColumnManifest> {
  if (path.startsWith('s3://')) {
    throw new ConfigError(
      'bad_manifest',
      `${path}: a manifest is a local file`,
      words`to feed the objects of a prefix, give it as ${{ api: 'source', command: 'it is, without --manifest: `os2g feed s3://BUCKET/PREFIX`' }}; a manifest that is kept in a bucket must be copied here first`,
      { option: 'manifest' },
    );
  }
  return parseManifest(await readBytes(path), path);
}

async function readBytes(path: string): Promise<Uint8Array> {
  let handle: FileHandle | undefined;
  try {
    // Before it is opened: to open a named pipe waits for a writer.
    if (!(await stat(path)).isFile()) {
      const what = `${path} is not a file, but a folder, a pipe or a device`;
      throw new ConfigError('bad_manifest', what, 'name a manifest file', { option: 'manifest', file: path });
    }
    handle = await open(path, 'r');
    const { size } = await handle.stat();
    if (size > MAX_BYTES) {
      const what = `${path} has ${size} bytes, at most ${MAX_BYTES} are read`;
      throw new ConfigError('bad_manifest', what, 'split the manifest', { file: path });
    }
    return await readAll(handle, size);
  } catch (error) {
    if (error instanceof Os2gError) throw error;
    throw unreadable(path, error);
  } finally {
    await handle?.close();
  }
}

async function readAll(handle: FileHandle, size: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(bytes, at, Math.min(READ_BYTES, size - at), at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return bytes.subarray(0, at);
}

function unreadable(path: string, cause: unknown): ConfigError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  if (code === 'ENOENT') {
    const mend = 'check the path, or make the manifest with `os2g index s3://bucket/prefix -o FILE`';
    return new ConfigError('manifest_not_found', `${path}: there is no such manifest`, mend, {
      option: 'manifest',
      file: path,
      cause,
    });
  }
  const mend = 'check that the file can be read by this user';
  return new ConfigError('manifest_unreadable', `${path} cannot be read (${code})`, mend, {
    option: 'manifest',
    file: path,
    cause,
  });
}
