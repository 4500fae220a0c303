import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ConfigError } from '../../runtime-node/errors.js';
import { openStore, type S3Options } from '../../runtime-node/s3/store.js';
import { selfSigned } from '../store/index.js';
import { withAwsEnv } from './aws-env.js';

test('a profile by the option and by AWS_PROFILE: the same store, whatever other profiles say', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'os2g-aws-'));
  const { cert } = selfSigned(['localhost']);
  const bundle = join(folder, 'ca.pem');
  await writeFile(bundle, cert);
  const config = join(folder, 'config');
  const keys = 'aws_access_key_id = KEY\naws_secret_access_key = s\n';
  const profiles: [name: string, text: string, url: string | RegExp, region: string, trusts: boolean][] = [
    ['default', 'endpoint_url = http://other:1\nregion = other-1', 'http://other:1/data', 'other-1', false],
    ['lab', 'endpoint_url = https://lab:9\nregion = lab-1', 'https://lab:9/data', 'lab-1', false],
    ['ca', `endpoint_url = https://lab:9\nca_bundle = ${bundle}`, 'https://lab:9/data', 'us-east-1', true],
    [
      'sections',
      'endpoint_url = http://general:1\nservices = mine',
      'http://special:2/base/data',
      'us-east-1',
      false,
    ],
    [
      'other-service',
      'endpoint_url = http://general:1\nservices = ec2',
      'http://general:1/data',
      'us-east-1',
      false,
    ],
    ['aws', 'region = eu-west-1', 'https://data.s3.eu-west-1.amazonaws.com', 'eu-west-1', false],
    [
      'ignoring',
      'region = eu-west-1\nendpoint_url = http://lab:9\nignore_configured_endpoint_urls = true',
      'https://data.s3.eu-west-1.amazonaws.com',
      'eu-west-1',
      false,
    ],
    ['no-services', 'services = nowhere', /services nowhere/, '', false],
    ['nonsense', 'endpoint_url = lab', /endpoint_url of profile nonsense/, '', false],
    [
      'no-ca',
      'endpoint_url = https://lab:9\nca_bundle = /nonexistent.pem',
      /ca_bundle of profile no-ca/,
      '',
      false,
    ],
  ];
  const sections = profiles.map(
    ([name, text]) => `[${name === 'default' ? '' : 'profile '}${name}]\n${keys}${text}\n`,
  );
  const services =
    '[services mine]\ns3 =\n  endpoint_url = http://special:2/base\n[services ec2]\nec2 =\n  endpoint_url = http://ec2:3\n';
  await writeFile(config, `${sections.join('')}${services}`);
  for (const [name, , url, region, trusts] of profiles) {
    for (const [env, options] of [
      [{ AWS_PROFILE: name }, {}],
      [{}, { profile: name }],
      [{ AWS_PROFILE: 'lab' }, { profile: name }],
    ] as [Record<string, string>, S3Options][]) {
      const where = `${name}: ${JSON.stringify(env)} ${JSON.stringify(options)}`;
      await withAwsEnv({ AWS_CONFIG_FILE: config, ...env }, async () => {
        const found = await openStore(options).catch((cause: unknown) => cause);
        if (typeof url !== 'string') {
          assert.ok(found instanceof ConfigError && url.test(found.message), `${where}: ${found}`);
          return;
        }
        if (found instanceof Error) throw found;
        const store = found as Awaited<ReturnType<typeof openStore>>;
        const access = await store.bucketAccess('data');
        assert.is(`${access.protocol}//${access.host}${access.pathPrefix}`, url, where);
        assert.is(access.signingRegion, region, where);
        assert.is(access.caPem?.includes(cert.trim()) ?? false, trusts, where);
        assert.is(access.credentials?.current().accessKeyId, 'KEY', where);
        await store.close();
      });
    }
  }
  // What is nearer wins.
  await withAwsEnv({ AWS_CONFIG_FILE: config, AWS_ENDPOINT_URL_S3: 'http://two:2' }, async () => {
    for (const [options, host] of [
      [{ profile: 'lab' }, 'two:2'],
      [{ profile: 'lab', endpoint: 'http://three:3' }, 'three:3'],
    ] as const) {
      const store = await openStore(options);
      assert.is((await store.bucketAccess('data')).host, host);
      await store.close();
    }
  });
  for (const [env, options, says] of [
    [{}, { profile: 'nope' }, /s3\.profile: there is no profile "nope"/],
    [{ AWS_PROFILE: 'nope' }, {}, /AWS_PROFILE: there is no profile "nope"/],
  ] as [Record<string, string>, S3Options, RegExp][]) {
    await withAwsEnv({ AWS_CONFIG_FILE: config, ...env }, async () => {
      const failed = await openStore(options).catch((cause: unknown) => cause);
      assert.ok(failed instanceof ConfigError && failed.code === 'no_profile');
      assert.match(failed instanceof ConfigError ? failed.message : '', says);
      assert.match(failed instanceof ConfigError ? failed.mend : '', /lab/);
    });
  }
  await rm(folder, { recursive: true });
});

test('shared files: region, endpoint and keys of a profile', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'os2g-aws-'));
  const config = join(folder, 'config');
  await writeFile(
    config,
    '[profile lab]\nregion = lab-1\nendpoint_url = http://lab:9\naws_access_key_id = LABKEY\naws_secret_access_key = s\n',
  );
  for (const [env, options] of [
    [{ AWS_PROFILE: 'lab' }, {}],
    [{ AWS_ENDPOINT_URL: 'http://lab:9' }, { profile: 'lab' }],
  ] as const) {
    await withAwsEnv({ AWS_CONFIG_FILE: config, ...env }, async () => {
      const store = await openStore(options);
      const access = await store.bucketAccess('data');
      assert.equal([access.host, access.signingRegion], ['lab:9', 'lab-1']);
      assert.is(access.credentials?.current().accessKeyId, 'LABKEY');
      await store.close();
    });
  }
  await rm(folder, { recursive: true });
});

test.run();
