import { startStore } from '../../../test/store/index.js';
import { DEMO, demoObjects } from './plan.js';

/**
 * The demo's store, in a process of its own so that its CPU time is not the client's. It tells its parent where it
 * listens and what it takes as credentials, and ends with it.
 */
const store = await startStore({ seed: DEMO.seed });
// Ctrl-C reaches this process too; its parent ends first and takes it along.
process.on('SIGINT', () => {});
process.on('disconnect', () => void store.close());

store.createBucket(DEMO.bucket);
for (const { key, sizeBytes, seed } of demoObjects()) store.put(DEMO.bucket, key, { sizeBytes, seed });
store.setLatency(DEMO.firstByteMs, DEMO.slowTail);
process.send?.({ endpoint: store.endpoint, region: store.region, credentials: store.credentials });
