import { createHash, hash } from 'node:crypto';
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeFileSync } from 'node:fs';
import { Os2gError } from '../errors.js';
import { fileProblem, writeMend } from '../file-problem.js';
import type { LandingBackend } from '../landing/landing.js';
import type { Manifest } from '../manifest/manifest.js';
import { beginningOf } from '../output-files.js';
import type { Delivery } from './delivery.js';

const TAIL_BYTES = 65536;
/** What is hashed at once: a copy back from a GPU takes so much memory beside the budget, and no more. */
const PIECE_BYTES = 2 ** 20;

/**
 * Writes one JSON line for each batch, in the order in which batches are handed out, with the SHA-256 of each sample as it lies in
 * landing memory. A line is handed to the operating system before its batch is handed out, so after `kill -9` the file
 * has a whole line for every batch that the cursor calls consumed; a batch that was handed out and not consumed may
 * stand in it again after a resume.
 *
 * A run without a cursor empties the file; a resumed one adds to it (and cuts off a last line that a kill left unfinished).
 */
export class AuditFile {
  readonly #path: string;
  readonly #manifest: Manifest;
  #fd: number | null;

  /** @throws Os2gError `audit_write` */
  constructor(path: string, manifest: Manifest, resumed: boolean) {
    this.#path = path;
    this.#manifest = manifest;
    this.#fd = this.#guard(() => {
      const fd = openSync(path, resumed ? 'a+' : 'w', 0o644);
      if (resumed) cutUnfinishedLine(fd);
      return fd;
    });
  }

  /** @throws Os2gError `audit_write` */
  write(delivery: Delivery, landing: LandingBackend): void {
    const line = `${JSON.stringify(auditLine(delivery, landing, this.#manifest))}\n`;
    const fd = this.#fd;
    if (fd !== null) this.#guard(() => writeFileSync(fd, line));
  }

  close(): void {
    const fd = this.#fd;
    if (fd === null) return;
    this.#fd = null;
    this.#guard(() => {
      try {
        if (fstatSync(fd).isFile()) fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
    });
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw new Os2gError(
        'audit_write',
        `the audit cannot be written to ${this.#path}: ${fileProblem(cause)}`,
        writeMend(cause),
        { option: 'audit', file: this.#path, cause },
      );
    }
  }
}

/** The document of one line, as docs/ and the contracts name its fields. */
export function auditLine(
  delivery: Delivery,
  landing: LandingBackend,
  manifest: Manifest,
): Record<string, unknown> {
  const samples = Array.from(delivery.rows, (row, i) => {
    const fields = manifest.fields(row);
    const place = {
      index: row,
      key: manifest.key(row),
      offset: delivery.offsets[i],
      length: delivery.lengths[i],
      ...(fields ? { fields } : {}),
    };
    const pad = delivery.isPad(i);
    if (delivery.isSkipped(i)) return { ...place, pad, skipped: true };
    return { ...place, sha256: sha256(delivery, landing, i), pad };
  });
  return { epoch: delivery.epoch, batch: delivery.batch, samples };
}

function sha256(delivery: Delivery, landing: LandingBackend, i: number): string {
  const { consumer, targets, lengths } = delivery;
  const length = lengths[i]!;
  if (length <= PIECE_BYTES) return hash('sha256', delivery.bytes(landing, i), 'hex');
  const whole = createHash('sha256');
  for (let at = 0; at < length; at += PIECE_BYTES) {
    whole.update(landing.bytes(consumer, targets[i]! + at, Math.min(PIECE_BYTES, length - at)));
  }
  return whole.digest('hex');
}

const LINE_BEGINS = /^\{"epoch":\d+,"batch":\d+,"samples":\[/;
const LONGEST_BEGIN = '{"epoch":4294967295,"batch":4294967295,"samples":['.length;

/** Whether a file begins as an audit does; a first line may be torn. */
export function looksLikeAudit(path: string): boolean {
  const begin = beginningOf(path, LONGEST_BEGIN).toString('latin1');
  if (LINE_BEGINS.test(begin)) return true;
  return (
    begin.length < LONGEST_BEGIN &&
    /^[^\n]*$/.test(begin) &&
    begin.startsWith('{"epoch":'.slice(0, begin.length))
  );
}

function cutUnfinishedLine(fd: number): void {
  const end = fstatSync(fd).size;
  const tail = Buffer.alloc(Math.min(end, TAIL_BYTES));
  for (let to = end; to > 0; ) {
    const length = Math.min(to, TAIL_BYTES);
    readSync(fd, tail, 0, length, to - length);
    const newline = tail.subarray(0, length).lastIndexOf(10);
    if (newline >= 0 || to === length) {
      const keep = to - length + newline + 1;
      if (keep < end) ftruncateSync(fd, keep);
      return;
    }
    to -= length;
  }
}
