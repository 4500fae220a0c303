import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreError } from '../../runtime-node/errors.js';
import { openStore } from '../../runtime-node/s3/store.js';
import { withAwsEnv } from './aws-env.js';

const entry = (key: string): string => `<Contents><Key>${key}</Key><Size>1</Size><ETag>"e"</ETag></Contents>`;
const pageOf = (keys: string[], more = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>data</Name><KeyCount>${keys.length}</KeyCount>` +
  `<IsTruncated>${more !== ''}</IsTruncated>${more}${keys.map(entry).join('')}</ListBucketResult>`;
const WHOLE = pageOf(['a', 'b']);
const FIRST = pageOf(['a'], '<NextContinuationToken>t</NextContinuationToken>');

type Reply = string | [status: number, body: string];

/** What a listing comes to where the requests are answered so, the last reply for ever. */
async function listed(replies: readonly Reply[]): Promise<{ keys: string[]; requests: number } | StoreError> {
  let requests = 0;
  const server = createServer((_request, response: ServerResponse) => {
    const reply = replies[Math.min(requests++, replies.length - 1)]!;
    const [status, body] = typeof reply === 'string' ? [200, reply] : reply;
    response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const s3 = await openStore({ endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  try {
    const keys: string[] = [];
    for await (const page of s3.listObjects('data', '')) keys.push(...page.map(({ key }) => key));
    assert.is(s3.listRequests, requests);
    return { keys, requests };
  } catch (cause) {
    if (cause instanceof StoreError) return cause;
    throw cause;
  } finally {
    await s3.close();
    server.close();
  }
}

// At one time: each waits for its own retries.
const all = <T>(cases: readonly T[], check: (one: T) => Promise<void>): Promise<void> =>
  withAwsEnv({ AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'SECRETSECRET' }, async () => {
    await Promise.all(cases.map(check));
  });

const UNREADABLE: [string, string][] = [
  ['cut off inside a key', WHOLE.slice(0, WHOLE.indexOf('a</Key>') + 1)],
  ['cut off between two entries', WHOLE.slice(0, WHOLE.lastIndexOf('<Contents>'))],
  ['cut off at the end', WHOLE.slice(0, -4)],
  ['nothing', ''],
  ['garbage', 'hello <<>> &'],
  ['another format', '{"keys":[]}'],
  ['a page of a proxy', '<html><body>Log in</body></html>'],
  ['another document', '<ListAllMyBucketsResult><Owner/></ListAllMyBucketsResult>'],
];

test('a listing that cannot be read is asked for again', () =>
  all(UNREADABLE, async ([name, body]) => {
    assert.equal(await listed([body, WHOLE]), { keys: ['a', 'b'], requests: 2 }, name);
  }));

test('... and fails in our words where it stays so, on the second page too', () =>
  all(
    UNREADABLE.flatMap(([name, body]): [string, Reply[]][] => [
      [name, [body]],
      [`${name}, as the second page`, [FIRST, body]],
    ]),
    async ([name, replies]) => {
      const failed = await listed(replies);
      if (!(failed instanceof StoreError)) throw new Error(`${name}: ${JSON.stringify(failed)}`);
      assert.is(failed.code, 'bad_listing', `${name}: ${failed.message}`);
      assert.equal([failed.context.status, failed.context.attempts], [200, 5], name);
      assert.not.match(failed.message, /hidden field|Deserialization|@aws-sdk/, name);
      assert.not.match(failed.context.bodyStart ?? '', /\n/, name);
    },
  ));

test('an error whose body cannot be read is what its status says', () =>
  all(
    [
      [403, 'forbidden', 1],
      [404, 'not_found', 1],
      [500, 'server', 5],
      [503, 'throttled', 5],
    ] as const,
    async ([status, code, attempts]) => {
      const failed = await listed([[status, 'no <<XML']]);
      if (!(failed instanceof StoreError)) throw new Error(JSON.stringify(failed));
      assert.is(failed.code, code, failed.message);
      assert.is(failed.context.attempts, attempts);
      assert.not.match(failed.message, /hidden field|Deserialization/);
      assert.is(failed.context.bodyStart, 'no <<XML');
    },
  ));

test.run();
