#!/usr/bin/env node
import { existsSync, readFileSync } from 'node:fs';

const built = new URL('../dist/runtime-node/cli/main.js', import.meta.url);
const wanted = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).engines.node;

function older(version, least) {
  const [have, want] = [version, least.replace(/^\D*/, '')].map((text) => text.split('.').map(Number));
  const at = have.findIndex((part, i) => part !== want[i]);
  return at >= 0 && have[at] < want[at];
}

/** Nothing can be started: said in the form that was asked for. */
function refuse(code, message, mend) {
  if (process.argv.includes('--json')) {
    process.stdout.write(`${JSON.stringify({ schema: 'os2g.error/1', error: { code, message, mend } })}\n`);
  }
  process.stderr.write(`error: ${message}\n  to mend it: ${mend}\n`);
  process.exitCode = 2;
}

if (older(process.versions.node, wanted)) {
  refuse(
    'old_node',
    `Node ${process.versions.node} is too old: os2g needs ${wanted}`,
    'install a newer Node',
  );
} else if (!existsSync(built)) {
  refuse('not_built', 'this checkout of os2g is not built yet', 'run `npm run setup`, then try again');
} else {
  const { main } = await import(built.href);
  await main();
}
