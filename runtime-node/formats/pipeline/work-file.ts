import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, rmSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { Os2gError } from '../../errors.js';
import { fileProblem } from '../../file-problem.js';
import { areRecords } from '../../manifest/row-record.js';
import { beginningOf } from '../../output-files.js';
import { writeAll } from '../../write-all.js';
import type { NoteEntry } from './notes.js';

/** What a run is about: the pieces of another one are of no use to it. */
export interface WorkOf {
  bucket: string;
  prefix: string;
  format: string;
  /** Whether sizes of pictures are read, and whether rows of an old manifest are looked into for them. */
  imageSize?: 'anew' | 'update';
}

/** A piece that is done: its name (`namedPieces`), what it noted, and its rows as records. */
export interface DonePiece {
  id: string;
  notes: NoteEntry[];
  records: Buffer;
}

const SCHEMA = 'os2g.index-work/2';
/** Length and CRC-32 of what follows. */
const FRAME_BYTES = 8;
/** How the first frame of any version goes on. */
const BEGINNING = '{"schema":"os2g.index-work/';

/** Whether a file is a work file, perhaps one whose first frame a full disk cut off. */
export function looksLikeWorkFile(path: string): boolean {
  const found = beginningOf(path, FRAME_BYTES + BEGINNING.length).toString('latin1', FRAME_BYTES);
  return BEGINNING.startsWith(found);
}

/**
 * The pieces of an index run that are done, in a file beside the manifest, for a run that goes on after this one was ended. Frames of
 * u32 length, u32 CRC-32 and the bytes: first a JSON document that says what the run is about, then for each piece a
 * line of JSON and the records of its rows. A frame that a kill left torn ends the file.
 */
export class WorkFile {
  private readonly fd: number;
  private end = 0;
  private isEmpty = true;

  /** @throws Os2gError `write_failed` */
  constructor(
    readonly path: string,
    of: WorkOf,
  ) {
    const head = Buffer.from(JSON.stringify({ schema: SCHEMA, ...of }));
    this.fd = this.guard(() => openSync(path, constants.O_RDWR | constants.O_CREAT, 0o644));
    const found = this.frame();
    if (found?.equals(head) === true) return;
    this.end = 0;
    this.guard(() => ftruncateSync(this.fd, 0));
    this.append([head]);
  }

  /** The pieces of the file, to be asked for before the first is added; behind the last whole one the file is cut off. */
  *pieces(): Generator<DonePiece> {
    for (let bytes = this.frame(); bytes !== null; bytes = this.frame()) {
      const line = bytes.indexOf('\n');
      const records = bytes.subarray(line + 1);
      if (line < 0 || !areRecords(records)) break;
      this.isEmpty = false;
      yield { ...(JSON.parse(bytes.toString('utf8', 0, line)) as Omit<DonePiece, 'records'>), records };
    }
    this.guard(() => ftruncateSync(this.fd, this.end));
  }

  /** @throws Os2gError `write_failed` */
  add(id: string, notes: NoteEntry[], records: readonly Buffer[]): void {
    this.isEmpty = false;
    this.append([Buffer.from(`${JSON.stringify({ id, notes })}\n`), ...records]);
  }

  /** The work is done, or what there is of it is kept for another run. Another run to the same output may have removed the file. */
  close(isDone: boolean): void {
    closeSync(this.fd);
    if (isDone || this.isEmpty) this.guard(() => rmSync(this.path, { force: true }));
  }

  /** The frame at `end`, which moves behind it; null where none is whole. */
  private frame(): Buffer | null {
    const head = this.read(this.end, FRAME_BYTES);
    if (head === null) return null;
    const bytes = this.read(this.end + FRAME_BYTES, head.readUInt32LE(0));
    if (bytes === null || crc32(bytes) !== head.readUInt32LE(4)) return null;
    this.end += FRAME_BYTES + bytes.length;
    return bytes;
  }

  private read(position: number, length: number): Buffer | null {
    return this.guard(() => {
      if (position + length > fstatSync(this.fd).size) return null;
      const bytes = Buffer.allocUnsafe(length);
      for (let at = 0; at < length; ) {
        const count = readSync(this.fd, bytes, at, length - at, position + at);
        if (count === 0) return null;
        at += count;
      }
      return bytes;
    });
  }

  private append(parts: readonly Buffer[]): void {
    const frame = Buffer.alloc(FRAME_BYTES);
    frame.writeUInt32LE(
      parts.reduce((sum, part) => sum + part.length, 0),
      0,
    );
    frame.writeUInt32LE(
      parts.reduce((sum, part) => crc32(part, sum), 0),
      4,
    );
    this.guard(() => {
      for (const part of [frame, ...parts]) {
        writeAll(this.fd, part, this.end);
        this.end += part.length;
      }
    });
  }

  private guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw new Os2gError(
        'write_failed',
        `the work file ${this.path} cannot be used: ${fileProblem(cause)}`,
        'make room, or name an output in a folder that can be written',
        { file: this.path, cause },
      );
    }
  }
}
