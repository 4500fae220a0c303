import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { answer, objectAnswer, startRawStore } from '../engine/raw-store.js';

// Case 31: each situation in a process of its own, which must end by itself, with exit code 0.

const BODY = Buffer.alloc(200_000, 'abcdefghij');
const ETAG = '"e1"';
const script = fileURLToPath(new URL('./process-script.js', import.meta.url));

async function run(
  situation: string,
  port: number,
): Promise<{ code: number | null; signal: string | null; output: string }> {
  const child = spawn(process.execPath, ['--expose-gc', script, situation, String(port)], {
    env: { ...process.env, OS2G_TEST_ENGINE: 'native' },
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
    child.on('close', (...end) => resolve(end)),
  );
  return { code, signal, output };
}

const SITUATIONS: [situation: string, says: string][] = [
  ['idle', 'idle'], // an engine that nobody closes does not keep the process
  ['fetched', 'fetched'], // running requests keep it, finished ones do not
  ['never-closed-in-transfer', 'exit'], // process.exit in mid-transfer
  ['closed-in-transfer', 'closed'],
  ['dropped', 'collected'], // an engine that is collected ends its threads
  ['worker-terminated', 'terminated'], // a worker that ends in mid-transfer takes no memory from under the engine
  ['worker-ends', 'ended'],
];
for (const [situation, says] of SITUATIONS) {
  test(`case 31: ${situation}: the process ends by itself`, async () => {
    const store = await startRawStore((request, socket) => {
      if (request.target.endsWith('slow')) {
        // A body that never ends, in many pieces: always in mid-transfer.
        socket.write(answer(200, { ETag: ETAG, 'Content-Length': String(BODY.length) }));
        const timer = setInterval(() => socket.write('x'), 1);
        socket.on('close', () => clearInterval(timer));
      } else socket.write(objectAnswer(request, BODY, ETAG));
    });
    const { code, signal, output } = await run(situation, store.port);
    await store.close();
    assert.equal([code, signal], [0, null], output);
    assert.match(output, new RegExp(`^${says}$`, 'm'));
  });
}

test.run();
