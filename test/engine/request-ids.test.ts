import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ScriptedStore, startStore } from '../store/index.js';
import { accessTo, Driver, fixedCredentials, until } from './engine-kit.js';

const BODY = Buffer.from('bytes of an object');
const MOST_GROWTH_BYTES = 2 ** 20;

// The core's ids hold a generation: a long run goes through all of u32.
const IDS = [0, 1, 0x4000, 0x00ff_0001, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe];

async function withDriver(run: (driver: Driver, store: ScriptedStore) => Promise<void>): Promise<void> {
  const store = await startStore({});
  store.createBucket('data');
  const { etag } = store.put('data', 'k', BODY);
  const credentials = fixedCredentials({ ...store.credentials, sessionToken: null });
  const objects = [
    { key: 'k', size: BODY.length, etag },
    { key: 'gone', size: BODY.length, etag },
  ];
  const driver = new Driver(accessTo(store.port, { pathPrefix: '/data', credentials }), objects);
  try {
    await run(driver, store);
    await driver.engine.close();
    await until(() => store.openSockets === 0);
  } finally {
    await driver.engine.close();
    await store.close();
  }
}

test('a request may have any id, and memory does not grow with it', async () => {
  await withDriver(async (driver) => {
    await driver.get(0, 0, BODY.length);
    const before = process.memoryUsage().arrayBuffers;
    for (const id of IDS) {
      const got = await driver.get(0, 0, BODY.length, id);
      assert.is(got.what, 'fetched', got.failure?.message);
      assert.is(got.id, id);
      assert.equal(got.target, BODY);
    }
    const growth = process.memoryUsage().arrayBuffers - before;
    assert.ok(growth < MOST_GROWTH_BYTES, `${growth} bytes more`);
  });
});

test('a failure names its object, whatever the id', async () => {
  await withDriver(async (driver) => {
    for (const id of IDS) {
      const got = await driver.get(1, 0, BODY.length, id);
      assert.is(got.what, 'not_found');
      assert.is(got.failure?.key, 'gone');
    }
  });
});

test.run();
