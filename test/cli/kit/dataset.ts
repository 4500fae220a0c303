import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptedStore, startStore } from '../../store/index.js';

export const BUCKET = 'data';
export const SAMPLES = 120;

/** A store with a small data set, the environment that leads to it, and a folder for files. */
export interface Dataset {
  readonly store: ScriptedStore;
  readonly env: Record<string, string>;
  file(name: string): string;
  close(): Promise<void>;
}

export const keyOf = (i: number): string => `train/class-${i % 3}/${String(i).padStart(4, '0')}.bin`;

export async function openDataset(): Promise<Dataset> {
  const store = await startStore({ seed: 3 });
  store.createBucket(BUCKET);
  for (let i = 0; i < SAMPLES; i++)
    store.put(BUCKET, keyOf(i), { sizeBytes: 500 + ((i * 977) % 4000), seed: i });
  const folder = mkdtempSync(join(tmpdir(), 'os2g-cli-'));
  // Also where the test is ended before its `after`.
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.on('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const { accessKeyId, secretAccessKey } = store.credentials;
  return {
    store,
    env: {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_REGION: store.region,
      AWS_ENDPOINT_URL_S3: store.endpoint,
    },
    file: (name) => join(folder, name),
    async close() {
      await store.close();
      remove();
    },
  };
}

export interface AuditLine {
  epoch: number;
  batch: number;
  samples: { index: number; key: string; offset: number; length: number; sha256: string; pad: boolean }[];
}

export function auditLines(file: string): AuditLine[] {
  const text = readFileSync(file, 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditLine);
}

/** Names the first sample of an audit that is not what the store holds, or null. */
export function auditFault(store: ScriptedStore, lines: readonly AuditLine[]): string | null {
  for (const { key, offset, length, sha256 } of lines.flatMap(({ samples }) => samples)) {
    const bytes = store.expectedBytes(BUCKET, key, offset, length);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) return key;
  }
  return null;
}
