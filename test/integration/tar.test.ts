// WebDataset shards as webdataset, Python and GNU tar write them, on a real S3 server: what is fed is what webdataset reads.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type AuditedSample, readAudit, samplesOf } from './audit.js';
import { type Rig, rigTests } from './rig.js';
import { sha256 } from './truth.js';

const SCRIPT = fileURLToPath(new URL('../../../test/integration/shards.py', import.meta.url));

interface Told {
  shard: string;
  key: string;
  fields: { name: string; sha256: string; bytes: number }[];
}
type FieldedSample = AuditedSample & { fields: { name: string; offset: number; length: number }[] };

const shards = new Map<string, Buffer>();
let told: Told[] = [];

const python = process.env.OS2G_PYTHON;
if (python === undefined)
  process.stdout.write(`# skip: webdataset: ${process.env.OS2G_PYTHON_MISSING ?? 'no Python'}\n`);
else declare(python);

function declare(interpreter: string): void {
  const it = rigTests(async (rig) => {
    const folder = rig.file('shards');
    mkdirSync(folder);
    const lines = execFileSync(interpreter, [SCRIPT, folder], { encoding: 'utf8', maxBuffer: 2 ** 26 });
    told = lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Told);
    for (const name of readdirSync(folder)
      .filter((file) => file.endsWith('.tar'))
      .sort()) {
      const body = readFileSync(`${folder}/${name}`);
      shards.set(name, body);
      await rig.store.writer.put(rig.store.bucket, `shards/${name}`, body);
    }
    assert.ok(told.length > 100 && shards.size >= 9, 'the tools wrote what they should');
  });

  it('index finds the samples that webdataset finds', async (rig) => {
    const result = await rig.result(['index', rig.url('shards/'), '-o', rig.file('tar.arrow')]);
    assert.equal([result.format, result.samples, result.objects], ['tar', told.length, shards.size]);
  });

  for (const source of ['manifest', 's3'] as const) {
    it(`feed from ${source}: the audit is what webdataset reads, field by field`, async (rig) => {
      const from = source === 's3' ? [rig.url('shards/')] : ['--manifest', rig.file('tar.arrow')];
      await checkFeed(rig, from);
    });
  }
}

async function checkFeed(rig: Rig, from: readonly string[]): Promise<void> {
  const audit = rig.file('tar.jsonl');
  const order = ['--shuffle', 'sample', '--seed', '5', '--batch-samples', '16', '--tail', 'partial'];
  await rig.result(['feed', ...from, ...order, '--audit', audit]);
  const samples = samplesOf(readAudit(audit)) as FieldedSample[];
  // Rows stand in the order of shard and place, which is that in which webdataset reads.
  const inOrder = [...samples].sort((a, b) => a.index - b.index);
  assert.equal(
    inOrder.map(({ index }) => index),
    told.map((_, row) => row),
  );
  for (const [row, { key, offset, length, sha256: hash, fields }] of inOrder.entries()) {
    const want = told[row] as Told;
    const shard = shards.get(want.shard) as Buffer;
    const bytes = shard.subarray(offset, offset + length);
    assert.is(key, `shards/${want.shard}`);
    assert.is(hash, sha256(bytes), want.key);
    const read = fields.map(({ name, offset: at, length: size }) => ({
      name,
      sha256: sha256(bytes.subarray(at, at + size)),
      bytes: size,
    }));
    assert.equal(read, want.fields, `${want.shard}: ${want.key}`);
  }
}

test.run();
