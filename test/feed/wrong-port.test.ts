// A feed that asks the wrong port: what it says to do about it.
import { createServer as createWebServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openFeed } from '../../runtime-node/feed/open.js';
import { ENGINE_UNDER_TEST } from '../engine/engine-kit.js';
import { selfSigned } from '../store/self-signed.js';
import { manifestOf } from './kit.js';

/** `alert(2) unexpected_message(10)`, as a TLS server answers a plain request. */
const ALERT = Buffer.from([0x15, 3, 1, 0, 2, 2, 10]);
const { key, cert } = selfSigned(['127.0.0.1']);

const table: [name: string, scheme: string, server: () => Server, code: string, mend: RegExp][] = [
  [
    'https at a port of http',
    'https',
    () => createWebServer((_, answer) => answer.end()),
    'tls',
    /begin --endpoint with http:\/\//,
  ],
  [
    'a certificate that nobody knows',
    'https',
    () => createTlsServer({ key, cert }),
    'tls',
    /--ca-bundle or AWS_CA_BUNDLE/,
  ],
  [
    'http at a port of https',
    'http',
    () => createTlsServer({ key, cert }),
    'reset',
    /begin it with https:\/\//,
  ],
  [
    'http at a port that answers with a TLS alert',
    'http',
    () => createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(ALERT))),
    'protocol',
    /begin with https:\/\//,
  ],
];
for (const [name, scheme, serve, code, mend] of table) {
  test(name, async () => {
    const server = serve();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const feed = await openFeed({
      ...{
        manifest: manifestOf([9]),
        bucket: 'data',
        batchSamples: 1,
        engine: ENGINE_UNDER_TEST,
        set: { 'retry.attempts': 1 },
      },
      s3: { endpoint: `${scheme}://127.0.0.1:${port}`, region: 'us-east-1', anonymous: true },
    });
    const error = await feed.next().catch((thrown) => thrown);
    assert.is(error.code, code, error.message);
    assert.match(error.told('command').mend, mend);
    await feed.close();
    await new Promise((resolve) => server.close(resolve));
  });
}

test.run();
