import { closeSync, openSync, readSync, unlinkSync } from 'node:fs';
import { Os2gError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { temporaryBeside } from '../temporary-files.js';
import { writeAll } from '../write-all.js';
import type { PlacedRun, RecordRun } from './record-heap.js';
import { recordBytes } from './row-record.js';

const WRITE_BYTES = 1024 * 1024;
/** Of each run while runs are merged. */
const READ_BYTES = 256 * 1024;

/**
 * Runs of sorted records in one temporary file. It has no name once it is open, so it is gone with the process however that ends.
 */
export class SpillFile {
  private readonly fd: number;
  private end = 0;
  private readonly runs: [start: number, end: number][] = [];

  /** @param beside a file in whose folder there is room. @throws Os2gError `write_failed` */
  constructor(private readonly beside: string) {
    const path = temporaryBeside(beside);
    this.fd = this.guard(() => {
      const fd = openSync(path, 'wx+', 0o600);
      unlinkSync(path);
      return fd;
    });
  }

  /** @throws Os2gError `write_failed` */
  add(run: PlacedRun): void {
    const buffer = Buffer.allocUnsafe(WRITE_BYTES);
    const start = this.end;
    let used = 0;
    while (run.next()) {
      const { length } = run;
      if (used + length > buffer.length) used = this.write(buffer.subarray(0, used));
      if (length > buffer.length) this.write(run.buffer.subarray(run.at, run.at + length));
      else used += run.buffer.copy(buffer, used, run.at, run.at + length);
    }
    this.write(buffer.subarray(0, used));
    this.runs.push([start, this.end]);
  }

  read(): RecordRun[] {
    return this.runs.map(([start, end]) => new FileRun(this.fd, start, end));
  }

  close(): void {
    closeSync(this.fd);
  }

  private write(bytes: Buffer): 0 {
    this.guard(() => writeAll(this.fd, bytes, this.end));
    this.end += bytes.length;
    return 0;
  }

  private guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw new Os2gError(
        'write_failed',
        `rows that do not fit into memory cannot be kept beside ${this.beside}: ${fileProblem(cause)}`,
        'make room there, about 200 bytes a sample, or name an output elsewhere',
        { file: this.beside, cause },
      );
    }
  }
}

class FileRun implements RecordRun {
  buffer = Buffer.alloc(0);
  at = 0;
  private length = 0;

  constructor(
    private readonly fd: number,
    private position: number,
    private readonly end: number,
  ) {}

  next(): boolean {
    this.at += this.length;
    this.length = 0;
    if (!this.fill(4)) return false;
    this.length = recordBytes(this.buffer, this.at);
    if (!this.fill(this.length)) throw new Error('a run of sorted rows ends inside a row');
    return true;
  }

  /** Sees that `length` bytes lie at `at`. */
  private fill(length: number): boolean {
    const rest = this.buffer.length - this.at;
    if (rest >= length) return true;
    const more = Math.min(this.end - this.position, Math.max(READ_BYTES, length - rest));
    if (rest + more < length) return false;
    const buffer = Buffer.allocUnsafe(rest + more);
    this.buffer.copy(buffer, 0, this.at);
    for (let read = 0; read < more; ) {
      const count = readSync(this.fd, buffer, rest + read, more - read, this.position + read);
      if (count === 0) throw new Error('the file of sorted rows is shorter than it was');
      read += count;
    }
    this.position += more;
    this.buffer = buffer;
    this.at = 0;
    return true;
  }
}
