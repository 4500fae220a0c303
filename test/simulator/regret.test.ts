import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';
import { quantile, regretRows, regretTable } from './regret.js';

const SNAPSHOT = join(packageRoot, 'test', 'simulator', 'regret.snapshot.txt');

/** Regret of the `os2g` preset: epoch time over the least that any policy could need, minus one. */
const MEDIAN_AT_MOST = 0.01;
const WITHOUT_FAULTS_AT_MOST = 0.03; // in 95 % of the cases

const rows = await regretRows();

test(`the os2g preset over ${rows.length} scenarios: median regret and its 95 % quantile`, () => {
  assert.ok(rows.length >= 60);
  const clean = rows.filter((r) => !r.faulty).map((r) => r.regret);
  assert.ok(
    quantile(
      rows.map((r) => r.regret),
      0.5,
    ) <= MEDIAN_AT_MOST,
  );
  assert.ok(quantile(clean, 0.95) <= WITHOUT_FAULTS_AT_MOST);
  for (const row of rows) assert.ok(row.regret >= 0, `${row.name} beats its bound`);
});

test('the table is as in test/simulator/regret.snapshot.txt', () => {
  const table = regretTable(rows);
  if (process.env.OS2G_UPDATE_SNAPSHOT === '1' || !existsSync(SNAPSHOT)) writeFileSync(SNAPSHOT, table);
  const wanted = readFileSync(SNAPSHOT, 'utf8').split('\n');
  const changed = table
    .split('\n')
    .flatMap((line, i) => (line === wanted[i] ? [] : [`- ${wanted[i] ?? ''}`, `+ ${line}`]));
  assert.is(
    changed.length,
    0,
    `the policy behaves otherwise; if that is meant, run this test with OS2G_UPDATE_SNAPSHOT=1:\n${changed.join('\n')}`,
  );
});

test.run();
