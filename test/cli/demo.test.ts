import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { demoObjects, demoTruth } from '../../runtime-node/cli/demo/plan.js';
import { Verifier } from '../../runtime-node/cli/demo/verifier.js';
import type { Batch } from '../../runtime-node/feed/batch.js';
import { os2g } from './kit/process.js';

test('demo: three policies, every byte verified, one document; nothing of the environment leads it astray', async () => {
  const { code, stdout, stderr } = await os2g(['demo', '--json'], {
    AWS_PROFILE: 'nobody',
    AWS_CA_BUNDLE: '/nowhere.pem',
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
  });
  assert.is(code, 0, stderr);
  const result = JSON.parse(stdout);
  assert.is(result.schema, 'os2g.demo-result/1');
  assert.equal(
    result.pipelines.map(({ policy }: { policy: string }) => policy),
    ['sync', 'readahead', 'os2g'],
  );
  for (const { bytes_verified, samples, bytes, run_hash } of result.pipelines) {
    assert.is(bytes_verified, result.dataset.bytes);
    assert.is(bytes, result.dataset.bytes);
    assert.is(samples, result.dataset.samples);
    assert.match(run_hash, /^[0-9a-f]{16}$/);
  }
});

test('the verifier tells a wrong byte, a repeat and a loss', () => {
  const objects = demoObjects().slice(0, 3);
  const truth = demoTruth(objects);
  const batchOf = (keys: string[], change = false): Batch =>
    ({
      length: keys.length,
      key: (i: number) => keys[i],
      bytes(i: number) {
        const bytes = Buffer.from(truth.get(keys[i]!)!);
        if (change) bytes[bytes.length - 1] = bytes[bytes.length - 1]! ^ 1;
        return bytes;
      },
    }) as unknown as Batch;
  const [a, b, c] = objects.map(({ key }) => key) as [string, string, string];
  const cases: [() => void, RegExp | null][] = [
    [() => new Verifier(truth).check(batchOf([a], true)), /not those of the store/],
    [() => new Verifier(truth).check(batchOf([a, b, a])), /came twice/],
    [() => verifyAll([a, b]), /1 samples never came/],
    [() => verifyAll([a, b, c]), null],
  ];
  function verifyAll(keys: string[]): void {
    const verifier = new Verifier(truth);
    verifier.check(batchOf(keys));
    verifier.finish();
  }
  for (const [work, words] of cases) {
    if (words) assert.throws(work, words);
    else work();
  }
});

test.run();
