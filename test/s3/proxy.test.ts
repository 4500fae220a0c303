import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { indexInMemory } from '../../runtime-node/formats/pipeline/in-memory.js';
import { isExempt, routeTo } from '../../runtime-node/s3/proxy.js';
import { openStore } from '../../runtime-node/s3/store.js';
import { Driver } from '../engine/engine-kit.js';
import { inFolder } from '../feed/kit.js';
import { tar } from '../formats/tar-writer.js';
import { type ScriptedStore, selfSigned, startStore } from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';
import { startProxy, type TestProxy } from './proxy-store.js';

test('which hosts go without a proxy: as curl, and as the native engine', () => {
  const rows: [host: string, port: number, list: string, exempt: boolean][] = [
    ['s3.example.com', 443, '', false],
    ['s3.example.com', 443, '*', true],
    ['s3.example.com', 443, 'example.com', true],
    ['s3.example.com', 443, '.example.com', true],
    ['s3.example.com', 443, '*.example.com', true],
    ['S3.Example.com.', 443, 'other, EXAMPLE.com', true],
    ['example.com', 443, '.example.com', true],
    ['notexample.com', 443, 'example.com', false],
    ['s3.example.com', 443, 'example.com:443', true],
    ['s3.example.com', 443, 'example.com:80', false],
    ['s3.example.com', 443, 'a b\texample.com', true],
    ['10.1.2.3', 80, '10.0.0.0/8', true],
    ['11.1.2.3', 80, '10.0.0.0/8', false],
    ['11.1.2.3', 80, '0.0.0.0/0', true],
    ['10.1.2.3', 80, '10.1.2.3', true],
    ['10.1.2.3', 80, '10.1.2.3:80', true],
    ['10.1.2.3', 80, '2.3', false],
    ['10.1.2.3', 80, '10.0.0.0/33,x/8,10.0.0.0/x', false],
    ['::1', 80, '[::1]', true],
    ['::1', 80, '::1', true],
    ['fd00::5', 80, 'fd00::/8', true],
    ['fd00::5', 80, '10.0.0.0/8', false],
  ];
  for (const [host, port, list, exempt] of rows) {
    assert.is(isExempt(host, port, list), exempt, `${host}:${port} in ${JSON.stringify(list)}`);
  }
});

test('which variable names the proxy, and what it says', () => {
  const rows: [tls: boolean, env: Record<string, string>, route: unknown][] = [
    [false, {}, null],
    [false, { http_proxy: 'http://p:3128' }, ['p', 3128, null, 'http_proxy']],
    [false, { HTTP_PROXY: 'http://p:3128' }, null],
    [true, { HTTPS_PROXY: 'http://p:80' }, ['p', 80, null, 'HTTPS_PROXY']],
    [true, { HTTPS_PROXY: 'a:1', https_proxy: 'b:2' }, ['b', 2, null, 'https_proxy']],
    [true, { ALL_PROXY: 'HTTP://[::1]:3128/x' }, ['::1', 3128, null, 'ALL_PROXY']],
    [true, { all_proxy: 'p' }, ['p', 1080, null, 'all_proxy']],
    [true, { all_proxy: 'http://u:p@p:1' }, ['p', 1, 'Basic dTpw', 'all_proxy']],
    [true, { all_proxy: 'http://u%40x:p%3A%zz@p:1' }, ['p', 1, 'Basic dUB4OnA6JXp6', 'all_proxy']],
    [true, { all_proxy: 'u@p:1' }, ['p', 1, 'Basic dTo=', 'all_proxy']],
    [true, { all_proxy: 'p:1', no_proxy: 'store' }, null],
    [true, { all_proxy: 'p:1', no_proxy: '', NO_PROXY: 'store' }, ['p', 1, null, 'all_proxy']],
    [true, { all_proxy: 'socks5://u:secret@p:1' }, 'bad_option'],
    [true, { https_proxy: 'http://p:99999' }, 'bad_option'],
  ];
  for (const [tls, env, wanted] of rows) {
    const said = JSON.stringify(env);
    if (wanted === 'bad_option') {
      assert.throws(
        () => routeTo(tls, 'store', 443, env),
        ({ code, message }: { code: string; message: string }) =>
          code === wanted && !message.includes('secret'),
        said,
      );
      continue;
    }
    const route = routeTo(tls, 'store', 443, env);
    const got = route && [route.hostname, route.port, route.authorization, route.from];
    assert.equal(got, wanted, said);
  }
});

/** A store, a proxy, and the environment of somebody who has to use it. */
async function behindProxy(
  { tls, wants, connectStatus }: { tls: boolean; wants?: string; connectStatus?: number },
  url: (port: number) => string,
  use: (parts: { store: ScriptedStore; proxy: TestProxy; folder: string }) => Promise<void>,
): Promise<void> {
  await inFolder(async (folder) => {
    const certificate = selfSigned(['localhost', '127.0.0.1']);
    const store = await startStore(tls ? { tls: certificate } : {});
    const proxy = await startProxy({ wants, connectStatus });
    const ca = join(folder, 'ca.pem');
    writeFileSync(ca, certificate.cert);
    store.createBucket('data');
    store.put('data', 'a//../b c+é', { sizeBytes: 3000, seed: 1 });
    const settings = {
      ...keysOf(store.credentials),
      ...{ AWS_REGION: store.region, AWS_ENDPOINT_URL_S3: store.endpoint, AWS_CA_BUNDLE: ca },
      ...{ all_proxy: url(proxy.port), no_proxy: '' },
    };
    try {
      await withAwsEnv(settings, () => use({ store, proxy, folder }));
    } finally {
      await proxy.close();
      await store.close();
    }
  });
}

test('listing and reading through a proxy: http with the whole URL, https through a tunnel; with user and password', async () => {
  for (const tls of [false, true]) {
    const wants = `Basic ${Buffer.from('me:s3cr:et').toString('base64')}`;
    await behindProxy(
      { tls, wants },
      (port) => `http://me:s3cr%3Aet@127.0.0.1:${port}`,
      async ({ store, proxy }) => {
        const opened = await openStore({});
        const keys: string[] = [];
        for await (const page of opened.listObjects('data', '')) keys.push(...page.map(({ key }) => key));
        assert.equal(keys, ['a//../b c+é']);
        const { etag, sizeBytes } = await opened.headObject('data', keys[0]!);
        const access = await opened.bucketAccess('data');
        const driver = new Driver(access, [{ key: keys[0]!, size: sizeBytes, etag }], { env: process.env });
        const { what, target, failure } = await driver.get(0, 100, 50);
        assert.is(what, 'fetched', failure?.message);
        assert.equal(target, Buffer.from(store.expectedBytes('data', keys[0]!, 100, 50)));
        await driver.engine.close();
        await opened.close();
        assert.is(driver.engine.sockets, 0);
        const place = store.endpoint.replace(/^https?:\/\//, '');
        for (const { line, authorization } of proxy.seen) {
          assert.is(authorization, wants);
          assert.ok(
            line.startsWith(tls ? `CONNECT ${place}` : `${line.split(' ')[0]} http://${place}/data`),
            line,
          );
        }
        assert.ok(proxy.seen.length >= 2);
        const sent = store.requests().flatMap(({ headers }) => Object.keys(headers));
        assert.not.ok(sent.includes('proxy-authorization'));
      },
    );
  }
});

test('shards are indexed through a proxy, over http and over https with a private CA', async () => {
  for (const tls of [false, true]) {
    await behindProxy(
      { tls },
      (port) => `http://127.0.0.1:${port}`,
      async ({ store, proxy }) => {
        store.createBucket('shards');
        store.put('shards', 'a.tar', tar([{ name: '1.bin', data: 'one' }]));
        const opened = await openStore({});
        const { manifest } = await indexInMemory(opened, { bucket: 'shards', prefix: '', format: 'auto' });
        await opened.close();
        assert.equal([manifest.rows, manifest.offset(0), manifest.length(0)], [1, 512, 3]);
        assert.ok(store.requests().some(({ operation }) => operation === 'get'));
        // Of a tunnel the proxy sees no request; nothing went around it, as each connection of the store came from one.
        const reads = proxy.seen.filter(({ line }) => line.startsWith(tls ? 'CONNECT' : 'GET'));
        assert.ok(reads.length >= 2, JSON.stringify(proxy.seen));
        if (!tls) assert.is(reads.length, store.requests().length);
      },
    );
  }
});

test('a proxy that refuses: by whom, why and what to do; nothing of its password', async () => {
  const rows: [tls: boolean, connectStatus: number | undefined, said: RegExp][] = [
    [true, undefined, /the proxy 127\.0\.0\.1: it answered CONNECT with status 407/],
    [true, 403, /the proxy 127\.0\.0\.1: it answered CONNECT with status 403/],
    [false, undefined, /status 407/],
  ];
  for (const [tls, connectStatus, said] of rows) {
    const wants = connectStatus === undefined ? 'Basic right' : undefined;
    await behindProxy(
      { tls, wants, connectStatus },
      (port) => `http://me:pa55word@127.0.0.1:${port}`,
      async () => {
        const opened = await openStore({});
        const listed = await opened
          .listObjects('data', '')
          .next()
          .then(() => null, String);
        assert.match(listed ?? '', said);
        assert.not.match(listed ?? '', /pa55word/);
        const access = await opened.bucketAccess('data');
        const driver = new Driver(access, [{ key: 'k', size: 10 }], { env: process.env });
        const { what, failure } = await driver.get(0, 0, 10);
        assert.is(what, tls ? 'connect' : 'refused', failure?.message);
        assert.match(failure?.message ?? '', said);
        assert.not.match(failure?.message ?? '', /pa55word/);
        await driver.engine.close();
        await opened.close();
      },
    );
  }
});

test('a store named in no_proxy is reached directly', async () => {
  await behindProxy(
    { tls: false, connectStatus: 403 },
    (port) => `http://127.0.0.1:${port}`,
    async ({ proxy }) => {
      process.env.no_proxy = '127.0.0.0/8';
      const opened = await openStore({});
      assert.is((await opened.listObjects('data', '').next()).value?.length, 1);
      const access = await opened.bucketAccess('data');
      const { etag } = await opened.headObject('data', 'a//../b c+é');
      const driver = new Driver(access, [{ key: 'a//../b c+é', size: 3000, etag }], { env: process.env });
      assert.is((await driver.get(0, 0, 3000)).what, 'fetched');
      await driver.engine.close();
      await opened.close();
      assert.is(proxy.seen.length, 0);
    },
  );
});

test.run();
