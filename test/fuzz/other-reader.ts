import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { packageRoot } from '../../runtime-node/package-root.js';

/** Null where it runs: else why there is no Python. */
export const otherReaderMissing =
  process.env.OS2G_PYTHON_MISSING ?? (process.env.OS2G_PYTHON ? null : 'OS2G_PYTHON is not set');

/**
 * Other readers of the same documents, in a Python process: what they make of each.
 * @throws Error where the process ends; the next document starts another
 */
export class OtherReader<Answer> {
  private child: ChildProcess | null = null;
  private lines: AsyncIterator<string> | null = null;
  private closer: Interface | null = null;

  constructor(private readonly kind: 'listing' | 'manifest') {}

  /** Null where the reader refuses it, or dies of it. */
  async read(document: Uint8Array): Promise<Answer | null> {
    const { child, lines } = this.start();
    const head = Buffer.alloc(4);
    head.writeUInt32LE(document.length);
    child.stdin?.write(Buffer.concat([head, document]));
    const line = await lines.next();
    if (line.done) {
      this.close();
      return null;
    }
    const { ok, ...answer } = JSON.parse(line.value);
    return ok ? answer : null;
  }

  close(): void {
    this.closer?.close();
    this.child?.kill();
    this.child = null;
  }

  private start(): { child: ChildProcess; lines: AsyncIterator<string> } {
    if (this.child === null || this.lines === null) {
      const script = join(packageRoot, 'test', 'fuzz', 'other_reader.py');
      this.child = spawn(process.env.OS2G_PYTHON as string, [script, this.kind], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      // It may die of what it reads.
      this.child.stdin?.on('error', () => {});
      this.closer = createInterface({ input: this.child.stdout! });
      this.lines = this.closer[Symbol.asyncIterator]();
    }
    return { child: this.child, lines: this.lines };
  }
}
