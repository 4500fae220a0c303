// Writes the documents that are made from the code's own tables (docs/settings.md, docs/cli.md, docs/errors.md); with --check it only tells
// whether they are up to date.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { main, SetupError } from './lib/fail.js';
import { inRoot } from './lib/root.js';

await main(async () => {
  const built = inRoot('dist', 'runtime-node', 'cli', 'documents.js');
  if (!existsSync(built)) throw new SetupError('dist/ is missing', 'run `npm run setup` first');
  const { documents } = await import(built);
  const check = process.argv.includes('--check');
  const stale = Object.entries(documents()).filter(
    ([file, text]) => !existsSync(inRoot(file)) || readFileSync(inRoot(file), 'utf8') !== text,
  );
  if (check && stale.length > 0) {
    throw new SetupError(
      `not up to date: ${stale.map(([file]) => file).join(', ')}`,
      'run `node scripts/docs.js`',
    );
  }
  for (const [file, text] of stale) writeFileSync(inRoot(file), text);
  process.stdout.write(
    `${stale.length === 0 ? 'up to date' : `written: ${stale.map(([file]) => file).join(', ')}`}\n`,
  );
});
