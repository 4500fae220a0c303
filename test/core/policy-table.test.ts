import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { packageRoot } from '../../runtime-node/package-root.js';
import { PRESET_NAMES } from '../../runtime-node/policy/settings.js';
import { cells, formatTable, play, SITUATIONS } from './situations.js';

const SNAPSHOT = join(packageRoot, 'test', 'core', 'policy-table.snapshot.txt');

test('the presets in every situation: outcomes as in the snapshot', async () => {
  const rows: string[][] = [];
  for (const situation of SITUATIONS) {
    for (const preset of PRESET_NAMES) {
      const report = await play(preset, situation);
      assert.ok(report.ended || report.failed, `${situation.name}, ${preset}`);
      rows.push([situation.name, preset, ...cells(report)]);
    }
  }
  const table = formatTable(rows);
  if (process.env.OS2G_UPDATE_SNAPSHOT === '1') {
    writeFileSync(SNAPSHOT, table);
    return;
  }
  const wanted = existsSync(SNAPSHOT) ? readFileSync(SNAPSHOT, 'utf8') : '';
  if (table !== wanted) assert.unreachable(difference(wanted, table));
});

/** The lines that changed, old under new, and what to do. */
function difference(wanted: string, got: string): string {
  const before = wanted.split('\n');
  const after = got.split('\n');
  const lines: string[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) {
    if (before[i] === after[i]) continue;
    if (before[i] !== undefined) lines.push(`- ${before[i]}`);
    if (after[i] !== undefined) lines.push(`+ ${after[i]}`);
  }
  return [
    'the policy behaves otherwise than test/core/policy-table.snapshot.txt says:',
    `  ${before[0]}`,
    ...lines,
    'If that is what you want, run this file again with OS2G_UPDATE_SNAPSHOT=1 and commit the snapshot.',
  ].join('\n');
}

test.run();
