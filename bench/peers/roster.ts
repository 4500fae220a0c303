import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadNative } from '../../runtime-node/native/load.js';
import { CREDENTIALS } from '../get/client.js';
import type { PeerClient, PeerJob } from './client.js';
import { found } from './command.js';
import type { FeedJob } from './feed-process.js';
import { getBench } from './get-bench.js';
import { BUCKET, REGION } from './objects.js';
import { ProcessClient } from './process-client.js';
import { PEER_SCRIPT, peerPython } from './python.js';
import { batchSamples, landingBytes, type Settings } from './settings.js';
import { Wrk } from './wrk.js';

export const CLIENTS = [
  'recv',
  'engine',
  'wrk',
  'feed-native',
  'feed-portable',
  'obstore',
  's3torchconnector',
  'boto3',
] as const;
export type ClientName = (typeof CLIENTS)[number];
const PYTHON_PEERS: readonly ClientName[] = ['obstore', 's3torchconnector', 'boto3'];
export const isPythonPeer = (name: ClientName): boolean => PYTHON_PEERS.includes(name);

/** Ways to read that are tried (what each is: `python/`); the best of them is measured, with a reader for each request in flight. */
export const VARIANTS: Readonly<Partial<Record<ClientName, readonly string[]>>> = {
  obstore: ['async', 'async_range', 'threads', 'threads_range'],
  s3torchconnector: ['plain', 'fast'],
  boto3: ['read', 'readinto'],
};

/** Of what the leanest clients read in a round, what this one does, so that a round of each takes about as long. */
export function shareOf(name: ClientName): number {
  if (name === 'boto3') return 0.1;
  if (name === 'feed-portable') return 0.5;
  return isPythonPeer(name) ? 0.25 : 1;
}

/** Why a client cannot be measured here and what to do, or null. */
export function missing(name: ClientName, tls: boolean): string | null {
  if (name === 'recv' && tls) return 'a plain recv loop speaks no TLS';
  if ((name === 'recv' || name === 'engine') && found('cargo') === null)
    return 'cargo is not on the PATH: install Rust (https://rustup.rs)';
  if (name === 'wrk' && found('wrk') === null) return 'not installed: apt-get install wrk';
  if (name === 'feed-native') {
    const native = loadNative();
    if (native.module === null) return `${native.why}: ${native.mend}`;
  }
  return null;
}

/**
 * Starts a client's process.
 * @param variant one of VARIANTS, for those that have some
 * @throws Error with what it said
 */
export async function startClient(
  name: ClientName,
  settings: Settings,
  inFlight: number,
  variant = '',
): Promise<PeerClient> {
  const { objects, store } = settings;
  const { objectBytes, root } = objects;
  const { url, caFile } = store;
  const job: PeerJob = {
    endpoint: url,
    region: REGION,
    bucket: BUCKET,
    keys: objects.keys,
    object_bytes: objectBytes,
    in_flight: inFlight,
    ca_file: caFile,
    root,
    variant,
  };
  const file = (text: string): string => {
    const path = join(settings.folder, `${name}-${inFlight}-${variant}.job`);
    writeFileSync(path, text);
    return path;
  };
  const env = environment(caFile);
  const landing = landingBytes(inFlight, objectBytes);
  const paths = objects.keys.map((key) => `/${BUCKET}/${key}`);
  switch (name) {
    case 'wrk':
      return new Wrk(url, file(`${paths.join('\n')}\n`), inFlight, objectBytes);
    case 'recv':
    case 'engine': {
      const list = file(paths.map((path) => `${url}${path} ${objectBytes}\n`).join(''));
      const args = ['--urls', list, '--mode', name, '--in-flight', String(inFlight), '--serve', root];
      const ca = caFile === null ? [] : ['--ca', caFile];
      const all = [...args, '--landing-bytes', String(landing), ...ca];
      return ProcessClient.start(name, await getBench(), all, env);
    }
    case 'feed-native':
    case 'feed-portable': {
      const feed: FeedJob = {
        ...job,
        engine: name === 'feed-native' ? 'native' : 'portable',
        landing_bytes: landing,
        batch_samples: batchSamples(landing, objectBytes),
        etag: settings.etag,
      };
      const script = fileURLToPath(new URL('./feed-process.js', import.meta.url));
      return ProcessClient.start(name, process.execPath, [script, file(JSON.stringify(feed))], env);
    }
    default: {
      const args = [PEER_SCRIPT, name, file(JSON.stringify(job))];
      return ProcessClient.start(`${name} ${variant}`, await peerPython(), args, env);
    }
  }
}

/** Nothing of the caller's that a client might heed: accounts, proxies. */
function environment(caFile: string | null): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^AWS_|_proxy$/i.test(name));
  return {
    ...Object.fromEntries(own),
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_EC2_METADATA_DISABLED: 'true',
    PYTHONDONTWRITEBYTECODE: '1',
    ...(caFile === null ? {} : { SSL_CERT_FILE: caFile }), // the AWS Common Runtime takes its trust from there
  };
}
