import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { FakeCuda } from './fake-cuda.js';
import { nativeModule } from './module.js';

nativeModule();

// Each situation in a process of its own, which must end by itself, with exit code 0, and leave nothing with the driver; after
// process.exit, which runs no clean-up of addons, that is the system's to do.
const script = fileURLToPath(new URL('./cuda-process-script.js', import.meta.url));
const SITUATIONS: [situation: string, says: RegExp][] = [
  ['idle', /^idle$/m],
  ['copies', /^begun\nall placed$/m],
  ['exit', /^exit$/m],
  ['dropped', /^collected$/m],
  ['terminated', /^terminated$/m],
];
for (const [situation, says] of SITUATIONS) {
  test(`${situation}: the process ends by itself, and the GPU's memory is given back`, () => {
    const fake = new FakeCuda({ delay_us: 5000 });
    const env = { ...process.env, ...fake.env };
    const argv = ['--expose-gc', script, situation];
    const ended = spawnSync(process.execPath, argv, { env, encoding: 'utf8', timeout: 60_000 });
    const said = ended.stdout + ended.stderr;
    assert.equal([ended.status, ended.signal], [0, null], said);
    assert.match(ended.stdout, says, said);
    if (situation === 'exit') assert.ok(fake.called('cuMemcpyHtoDAsync_v2') > 0);
    else fake.assertClean(situation);
    fake.remove();
  });
}

test.run();
