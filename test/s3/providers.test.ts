import { chmodSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../runtime-node/s3/store.js';
import { Driver } from '../engine/engine-kit.js';
import { inFolder } from '../feed/kit.js';
import { startStore } from '../store/index.js';
import { withAwsEnv } from './aws-env.js';

const KEYS = {
  accessKeyId: 'ASIAPROVIDED',
  secretAccessKey: 'the-secret-of-it',
  sessionToken: 'the-token-of-it',
};
const LATER = new Date(Date.now() + 3600_000).toISOString();

/** What the services that give out credentials answer: of a container, of a machine, and of STS. */
function answerOf(incoming: IncomingMessage): { status: number; type: string; body: string } {
  const { accessKeyId, secretAccessKey, sessionToken } = KEYS;
  const json = {
    ...{ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: sessionToken },
    ...{ Expiration: LATER, Code: 'Success' },
  };
  const text = (body: string) => ({ status: 200, type: 'text/plain', body });
  switch (`${incoming.method} ${incoming.url}`) {
    case 'GET /container':
      return incoming.headers.authorization === 'container-token'
        ? { status: 200, type: 'application/json', body: JSON.stringify(json) }
        : { status: 401, type: 'text/plain', body: 'no' };
    case 'PUT /latest/api/token':
      return text('imds-token');
    case 'GET /latest/meta-data/iam/security-credentials/':
      return text('a-role');
    case 'GET /latest/meta-data/iam/security-credentials/a-role':
      return text(JSON.stringify(json));
    case 'POST /':
      return {
        status: 200,
        type: 'text/xml',
        body: `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId><SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken><Expiration>${LATER}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      };
    default:
      return { status: 404, type: 'text/plain', body: `${incoming.method} ${incoming.url}` };
  }
}

interface Provider {
  name: string;
  /** Files of the folder. */
  files?: (folder: string) => Record<string, string>;
  env: (folder: string, url: string) => Record<string, string>;
  /** What the store says of where they came from. */
  from: RegExp;
}

const sharedKeys = `aws_access_key_id=${KEYS.accessKeyId}\naws_secret_access_key=${KEYS.secretAccessKey}\naws_session_token=${KEYS.sessionToken}\n`;
const processOutput = JSON.stringify({
  ...{ Version: 1, AccessKeyId: KEYS.accessKeyId, SecretAccessKey: KEYS.secretAccessKey },
  ...{ SessionToken: KEYS.sessionToken, Expiration: LATER },
});

const PROVIDERS: Provider[] = [
  {
    name: 'variables',
    env: () => ({
      ...{ AWS_ACCESS_KEY_ID: KEYS.accessKeyId, AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey },
      AWS_SESSION_TOKEN: KEYS.sessionToken,
    }),
    from: /env vars/,
  },
  {
    name: 'a shared file, and a profile of it',
    files: () => ({ credentials: `[mine]\n${sharedKeys}` }),
    env: (folder) => ({ AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'), AWS_PROFILE: 'mine' }),
    from: /profile/,
  },
  {
    name: 'a process',
    files: (folder) => ({
      'give.sh': `#!/bin/sh\necho '${processOutput}'\n`,
      config: `[default]\ncredential_process=${join(folder, 'give.sh')}\n`,
    }),
    env: (folder) => ({ AWS_CONFIG_FILE: join(folder, 'config') }),
    from: /process/,
  },
  {
    name: 'a container',
    files: () => ({ token: 'container-token' }),
    env: (folder, url) => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, 'token'),
    }),
    from: /http/,
  },
  {
    name: 'the metadata service of a machine',
    env: (_folder, url) => ({ AWS_EC2_METADATA_DISABLED: 'false', AWS_EC2_METADATA_SERVICE_ENDPOINT: url }),
    // The SDK does not name it.
    from: /the AWS default chain/,
  },
  {
    name: 'a web identity, by STS',
    files: () => ({ jwt: 'a.web.token' }),
    env: (folder, url) => ({
      ...{
        AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'jwt'),
        AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/a',
      },
      AWS_ENDPOINT_URL_STS: url,
    }),
    from: /web id/,
  },
];

for (const { name, files, env, from } of PROVIDERS) {
  test(`credentials of ${name}: listed and read with them, and said where from`, () =>
    inFolder(async (folder) => {
      const service = createServer((incoming, answer) => {
        const { status, type, body } = answerOf(incoming);
        incoming.resume().on('end', () => answer.writeHead(status, { 'content-type': type }).end(body));
      });
      await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
      const store = await startStore(KEYS);
      try {
        store.createBucket('data');
        store.put('data', 'k', { sizeBytes: 1000, seed: 1 });
        for (const [file, text] of Object.entries(files?.(folder) ?? {})) {
          writeFileSync(join(folder, file), text);
          chmodSync(join(folder, file), 0o700);
        }
        const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
        await withAwsEnv({ AWS_REGION: 'us-east-1', ...env(folder, url) }, async () => {
          const opened = await openStore({ endpoint: store.endpoint });
          const page = (await opened.listObjects('data', '').next()).value;
          assert.equal(
            page?.map(({ key }: { key: string }) => key),
            ['k'],
          );
          assert.match(opened.credentialsFrom ?? '', from);
          const access = await opened.bucketAccess('data');
          const driver = new Driver(access, [{ key: 'k', size: 1000 }]);
          const { what, failure } = await driver.get(0, 0, 1000);
          assert.is(what, 'fetched', failure?.message);
          await driver.engine.close();
          await opened.close();
        });
      } finally {
        await store.close();
        service.closeAllConnections();
        service.close();
      }
    }));
}

test.run();
