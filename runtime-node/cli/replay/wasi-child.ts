import { readFileSync } from 'node:fs';
import { WASI } from 'node:wasi';

/**
 * A process of its own that runs a WASI module (its only argument) under node:wasi, with the standard streams as they are.
 * A process, since a module that reads blocks, and one that traps must not take its caller along.
 */
const file = process.argv[2];
if (file === undefined) throw new Error('no module was named');
const wasi = new WASI({ version: 'preview1', args: ['core'], returnOnExit: true });
// At once, not awaited: with nothing else to wait for, Node may lock up between a compilation and a collection
// (nodejs/node#54918).
const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file)), {
  wasi_snapshot_preview1: wasi.wasiImport,
});
process.exitCode = wasi.start(instance);
