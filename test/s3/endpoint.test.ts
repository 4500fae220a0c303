import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError, Os2gError } from '../../runtime-node/errors.js';
import { checkEndpoint, parseS3Url } from '../../runtime-node/s3/location.js';
import { openStore, type S3Options } from '../../runtime-node/s3/store.js';
import { Driver } from '../engine/engine-kit.js';
import { selfSigned, startStore } from '../store/index.js';
import { keysOf, withAwsEnv } from './aws-env.js';

const KEYS = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'SECRET' };
const OUTPOST = 'arn:aws:s3-outposts:eu-west-1:123456789012:outpost/op-01ac5d28a6a232904/accesspoint/mine';
const ARN = 'arn:aws:s3:eu-west-1:123456789012:accesspoint/mine';

interface Row {
  name: string;
  bucket?: string;
  options?: S3Options;
  env?: Record<string, string>;
  /** Protocol, Host header and path before the key. */
  url?: string;
  region?: string;
  service?: string;
  fails?: RegExp;
}

// Cases 20 and 21, and the conventions
const rows: Row[] = [
  {
    name: 'AWS',
    options: { region: 'eu-west-1' },
    url: 'https://data.s3.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
  },
  { name: 'AWS_REGION', env: { AWS_REGION: 'eu-west-2' }, url: 'https://data.s3.eu-west-2.amazonaws.com' },
  {
    name: 'AWS_DEFAULT_REGION',
    env: { AWS_DEFAULT_REGION: 'eu-west-3' },
    url: 'https://data.s3.eu-west-3.amazonaws.com',
  },
  {
    name: 'the option wins',
    options: { region: 'eu-west-1' },
    env: { AWS_REGION: 'eu-west-2' },
    region: 'eu-west-1',
  },
  { name: 'no region for AWS', fails: /no AWS region/ },
  {
    name: 'a bucket with dots over https',
    bucket: 'my.data.set',
    options: { region: 'eu-west-1' },
    url: 'https://s3.eu-west-1.amazonaws.com/my.data.set',
  },
  {
    name: 'path style by option',
    options: { region: 'eu-west-1', pathStyle: true },
    url: 'https://s3.eu-west-1.amazonaws.com/data',
  },
  {
    name: 'dual-stack',
    options: { region: 'eu-west-1' },
    env: { AWS_USE_DUALSTACK_ENDPOINT: 'true' },
    url: 'https://data.s3.dualstack.eu-west-1.amazonaws.com',
  },
  {
    name: 'FIPS',
    options: { region: 'us-east-2' },
    env: { AWS_USE_FIPS_ENDPOINT: 'true' },
    url: 'https://data.s3-fips.us-east-2.amazonaws.com',
  },
  {
    name: 'an access point',
    bucket: ARN,
    options: { region: 'eu-west-1' },
    url: 'https://mine-123456789012.s3-accesspoint.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    service: 's3',
  },
  {
    name: 'an access point of another region than the configured one: signed for its own',
    bucket: ARN,
    options: { region: 'us-east-2' },
    url: 'https://mine-123456789012.s3-accesspoint.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    service: 's3',
  },
  {
    name: 'an alias of an access point',
    bucket: 'mine-abcdefgh12345-s3alias',
    options: { region: 'eu-west-1' },
    url: 'https://mine-abcdefgh12345-s3alias.s3.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    service: 's3',
  },
  {
    name: 'an access point on an Outpost',
    bucket: OUTPOST,
    options: { region: 'eu-west-1' },
    url: 'https://mine-123456789012.op-01ac5d28a6a232904.s3-outposts.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    service: 's3-outposts',
  },
  {
    name: 'an Object Lambda access point',
    bucket: 'arn:aws:s3-object-lambda:eu-west-1:123456789012:accesspoint/mine',
    options: { region: 'eu-west-1' },
    url: 'https://mine-123456789012.s3-object-lambda.eu-west-1.amazonaws.com',
    region: 'eu-west-1',
    service: 's3-object-lambda',
  },
  {
    name: 'an access point of a directory bucket',
    bucket: 'mine--euw1-az1--xa-s3',
    options: { region: 'eu-west-1' },
    fails: /directory bucket/,
  },
  {
    name: 'a multi-region access point',
    bucket: 'arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap',
    options: { region: 'eu-west-1' },
    fails: /sigv4a|multi-region/i,
  },
  {
    name: 'a multi-region access point with an endpoint',
    bucket: 'arn:aws:s3::123456789012:accesspoint/mfzwi23gnjvgw.mrap',
    options: { endpoint: 'http://one:1' },
    fails: /sigv4a/,
  },
  {
    name: 'a directory bucket',
    bucket: 'data--euw1-az1--x-s3',
    options: { region: 'eu-west-1' },
    fails: /directory bucket/,
  },
  { name: 'China', options: { region: 'cn-north-1' }, url: 'https://data.s3.cn-north-1.amazonaws.com.cn' },
  {
    name: 'an endpoint needs no region',
    options: { endpoint: 'http://localhost:9000' },
    url: 'http://localhost:9000/data',
    region: 'us-east-1',
  },
  {
    name: 'and takes one',
    options: { endpoint: 'http://localhost:9000', region: 'garage' },
    region: 'garage',
  },
  {
    name: 'a name',
    options: { endpoint: 'https://store.example.com' },
    url: 'https://store.example.com/data',
  },
  {
    name: 'a trailing slash',
    options: { endpoint: 'https://store.example.com/' },
    url: 'https://store.example.com/data',
  },
  {
    name: 'a base path',
    options: { endpoint: 'https://store.example.com/s3/v1' },
    url: 'https://store.example.com/s3/v1/data',
  },
  {
    name: 'a base path and a slash',
    options: { endpoint: 'https://store.example.com:8443/s3/' },
    url: 'https://store.example.com:8443/s3/data',
  },
  {
    name: 'the standard port',
    options: { endpoint: 'https://store.example.com:443' },
    url: 'https://store.example.com/data',
  },
  {
    name: 'an IPv4 address',
    options: { endpoint: 'http://10.1.2.3:9000' },
    url: 'http://10.1.2.3:9000/data',
  },
  { name: 'an IPv6 address', options: { endpoint: 'http://[::1]:9000' }, url: 'http://[::1]:9000/data' },
  {
    name: 'a bucket with dots',
    bucket: 'my.data',
    options: { endpoint: 'https://store.example.com' },
    url: 'https://store.example.com/my.data',
  },
  { name: 'AWS_ENDPOINT_URL', env: { AWS_ENDPOINT_URL: 'http://one:1' }, url: 'http://one:1/data' },
  {
    name: 'AWS_ENDPOINT_URL_S3 wins',
    env: { AWS_ENDPOINT_URL: 'http://one:1', AWS_ENDPOINT_URL_S3: 'http://two:2' },
    url: 'http://two:2/data',
  },
  {
    name: 'the option wins over both',
    options: { endpoint: 'http://three:3' },
    env: { AWS_ENDPOINT_URL_S3: 'http://two:2' },
    url: 'http://three:3/data',
  },
  { name: 'nonsense for an endpoint', options: { endpoint: 'localhost:9000' }, fails: /--endpoint/ },
  {
    name: 'nonsense in the environment',
    env: { AWS_ENDPOINT_URL_S3: 'ftp://x' },
    fails: /AWS_ENDPOINT_URL_S3/,
  },
  {
    name: 'a CA bundle that is not there',
    options: { caBundle: '/nonexistent.pem', endpoint: 'http://one:1' },
    fails: /cannot read/,
  },
  { name: 'and one in the environment', env: { AWS_CA_BUNDLE: '/nonexistent.pem' }, fails: /AWS_CA_BUNDLE/ },
  {
    name: 'a CA bundle that is none',
    options: { caBundle: '/proc/self/status', endpoint: 'http://one:1' },
    fails: /no PEM certificate/,
  },
];
for (const { name, bucket = 'data', options = {}, env = {}, ...wanted } of rows) {
  test(`endpoint: ${name}`, async () => {
    await withAwsEnv({ ...KEYS, ...env }, async () => {
      try {
        const store = await openStore(options);
        const access = await store.bucketAccess(bucket);
        await store.close();
        assert.is(wanted.fails, undefined, 'must fail');
        if (wanted.url) assert.is(`${access.protocol}//${access.host}${access.pathPrefix}`, wanted.url);
        if (wanted.region) assert.is(access.signingRegion, wanted.region);
        if (wanted.service) assert.is(access.signingName, wanted.service);
        assert.is(await store.bucketAccess(bucket), access, 'asked once a bucket');
      } catch (cause) {
        if (wanted.fails === undefined || !(cause instanceof ConfigError)) throw cause;
        assert.match(cause.told('command').message, wanted.fails);
        assert.not.match(cause.message + cause.mend, /(?:^|\s)--[a-z]/, "the API's names in the API");
        assert.is(cause.exitCode, 2);
      }
    });
  });
}

test('the notice of the SDK on old Node versions is not the user’s concern, and the environment stays', async () => {
  // In a process of its own: the SDK gives the notice once.
  const index = new URL('../../runtime-node/index.js', import.meta.url).href;
  const script = `
    const { openStore } = await import(${JSON.stringify(index)});
    await (await openStore({ endpoint: 'http://one:1', anonymous: true })).close();
    console.log(String(process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, AWS_CONFIG_FILE: '/nonexistent/config' },
  });
  assert.is(stdout, 'undefined\n', stderr);
  assert.is(stderr, '');
});

test('no credentials: said with what to do; anonymous asks nobody', async () => {
  await withAwsEnv({}, async () => {
    const failed = await openStore({ endpoint: 'http://one:1' }).catch((cause: unknown) => cause);
    assert.ok(failed instanceof Os2gError && failed.code === 'no_credentials');
    assert.match(failed instanceof Os2gError ? failed.told('command').mend : '', /--anonymous/);
    const store = await openStore({ endpoint: 'http://one:1', anonymous: true });
    assert.is((await store.bucketAccess('data')).credentials, null);
    await store.close();
  });
});

test('s3:// locations', () => {
  assert.equal(parseS3Url('s3://data'), { bucket: 'data', prefix: '' });
  assert.equal(parseS3Url('s3://data/'), { bucket: 'data', prefix: '' });
  assert.equal(parseS3Url('s3://data/a b%20/é?#/'), { bucket: 'data', prefix: 'a b%20/é?#/' });
  assert.equal(parseS3Url('s3://data//a'), { bucket: 'data', prefix: '/a' });
  assert.equal(parseS3Url(`s3://${ARN}/train/`), { bucket: ARN, prefix: 'train/' });
  assert.equal(parseS3Url(`s3://${OUTPOST}/train/`), { bucket: OUTPOST, prefix: 'train/' });
  for (const text of [
    '',
    'data',
    's3:/data',
    's3://',
    's3:///a',
    'http://data/a',
    's3://a',
    's3://da ta/x',
  ]) {
    assert.throws(
      () => parseS3Url(text),
      (error: unknown) => error instanceof ConfigError,
      text,
    );
  }
  for (const text of ['http://h/?x', 'http://u@h', 'h:1', 'file:///x', '']) {
    assert.throws(
      () => checkEndpoint(text),
      (error: unknown) => error instanceof ConfigError,
      text,
    );
  }
});

test('case 22: a private CA is trusted when given, refused when not, also where the process is told to trust all', async () => {
  const { key, cert } = selfSigned(['localhost', '127.0.0.1']);
  const folder = await mkdtemp(join(tmpdir(), 'os2g-ca-'));
  const caBundle = join(folder, 'ca.pem');
  await writeFile(caBundle, cert);
  const store = await startStore({ tls: { key, cert } });
  store.createBucket('data');
  store.put('data', 'k', Buffer.from('0123456789'));
  for (const [env, trusted] of [
    [{ AWS_CA_BUNDLE: caBundle }, true],
    [{}, false],
    [{ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, false],
  ] as const) {
    await withAwsEnv({ ...keysOf(store.credentials), ...env }, async () => {
      const s3 = await openStore({ endpoint: store.endpoint });
      const driver = new Driver(await s3.bucketAccess('data'), [{ key: 'k', size: 10 }]);
      const got = await driver.get(0, 0, 10);
      assert.is(got.what, trusted ? 'fetched' : 'tls', got.failure?.message);
      const headed = await s3.headObject('data', 'k').catch((cause: unknown) => cause);
      if (trusted) assert.is((headed as { sizeBytes: number }).sizeBytes, 10);
      else
        assert.ok(headed instanceof Os2gError && headed.code === 'tls' && /AWS_CA_BUNDLE/.test(headed.mend));
      await driver.engine.close();
      await s3.close();
    });
  }
  await store.close();
  await rm(folder, { recursive: true });
});

test('case 21: a store on [::1] with a trailing slash', async () => {
  const store = await startStore({ host: '::1' });
  store.createBucket('my.data');
  store.put('my.data', 'k', Buffer.from('0123456789'));
  await withAwsEnv(keysOf(store.credentials), async () => {
    const s3 = await openStore({ endpoint: `${store.endpoint}/` });
    const driver = new Driver(await s3.bucketAccess('my.data'), [{ key: 'k', size: 10 }]);
    assert.is((await driver.get(0, 2, 3)).target.toString(), '234');
    assert.is((await s3.headObject('my.data', 'k')).sizeBytes, 10);
    await driver.engine.close();
    await s3.close();
  });
  await store.close();
});

test.run();
