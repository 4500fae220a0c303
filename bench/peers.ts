// CPU time that clients need for one GET from a real web server on loopback, side by side. See bench/README.md.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { MachineWatch } from './measure/machine.js';
import { countOf, namesOf } from './measure/options.js';
import { chooseVariant } from './peers/choose-variant.js';
import type { PeerClient } from './peers/client.js';
import { found } from './peers/command.js';
import { comparisonsOf } from './peers/comparisons.js';
import { figuresOf, type Peers, type Row } from './peers/figures.js';
import { etagOf, startNginx } from './peers/nginx.js';
import { BUCKET, makeObjects } from './peers/objects.js';
import { peerVersions } from './peers/python.js';
import { peersMarkdown, peersText } from './peers/report.js';
import {
  CLIENTS,
  type ClientName,
  isPythonPeer,
  missing,
  shareOf,
  startClient,
  VARIANTS,
} from './peers/roster.js';
import { getsPerRound, inFlightFor, type Settings } from './peers/settings.js';

/** The numbers in flight beside the first one, of engine and feed, are for objects that it makes a difference to. */
const SWEEP_LARGEST_BYTES = 1e6;
/** Python's peers may need less with fewer at once, at a store that answers at once: measured too. */
const FEWER_IN_FLIGHT = 8;

interface Entry {
  row: Row;
  client: PeerClient;
  gets: number;
}

interface Plan {
  rounds: number;
  clients: ClientName[];
  sweep: number[];
}

async function open(name: ClientName, inFlight: number, settings: Settings): Promise<Entry | Row> {
  const row: Row = { name, inFlight, variant: null, tried: {}, rounds: [], verified: null, missing: null };
  row.missing = missing(name, settings.tls);
  if (row.missing !== null) return row;
  const gets = getsPerRound(inFlight, settings.objects.objectBytes, shareOf(name));
  const variants = VARIANTS[name];
  if (variants === undefined) {
    return { row, client: await startClient(name, settings, inFlight), gets };
  }
  try {
    const start = (variant: string): Promise<PeerClient> => startClient(name, settings, inFlight, variant);
    const { client, variant, tried } = await chooseVariant(variants, gets, start);
    return { row: { ...row, variant, tried }, client, gets };
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`);
    row.missing = 'failed: see the error above';
    return row;
  }
}

/** Everything interleaved, so that a disturbance falls on all; every other round the other way about. */
async function measure(entries: readonly Entry[], rounds: number, watch: MachineWatch): Promise<void> {
  for (const { client, row, gets } of entries) {
    row.verified = await client.verify();
    await client.round(gets); // warm-up
  }
  for (let round = 0; round < rounds; round++) {
    watch.calibrate();
    for (const { client, row, gets } of round % 2 === 0 ? entries : [...entries].reverse()) {
      row.rounds.push(await client.round(gets));
    }
  }
}

async function compare(settings: Settings, plan: Plan): Promise<Peers> {
  const { objects, store, tls, inFlight } = settings;
  const { objectBytes } = objects;
  const sweep = objectBytes <= SWEEP_LARGEST_BYTES ? plan.sweep : [];
  const swept = plan.clients.filter((name) => name === 'engine' || name === 'feed-native');
  const wanted = [
    ...plan.clients.map((name) => ({ name, inFlight })),
    ...plan.clients
      .filter((name) => isPythonPeer(name) && inFlight > FEWER_IN_FLIGHT)
      .map((name) => ({ name, inFlight: FEWER_IN_FLIGHT })),
    ...sweep.flatMap((more) => swept.map((name) => ({ name, inFlight: more }))),
  ];
  const watch = new MachineWatch();
  const opened: (Entry | Row)[] = [];
  const isEntry = (one: Entry | Row): one is Entry => 'client' in one;
  try {
    for (const { name, inFlight } of wanted) opened.push(await open(name, inFlight, settings));
    await measure(opened.filter(isEntry), plan.rounds, watch);
  } finally {
    for (const one of opened) if (isEntry(one)) await one.client.close();
  }
  const rows = opened.map((one) => (isEntry(one) ? one.row : one));
  return {
    schema: 'os2g.bench-peers/1',
    ...{ objectBytes, objects: objects.keys.length, tls, inFlight, store: store.version },
    versions: peerVersions(),
    clients: rows.map(figuresOf),
    comparisons: comparisonsOf(rows, objectBytes),
    machine: watch.state(),
  };
}

/** Gone with this process, also when it is interrupted. */
function temporaryFolder(parent: string): string {
  const path = mkdtempSync(join(parent, 'os2g-peers-'));
  process.on('exit', () => rmSync(path, { recursive: true, force: true }));
  return path;
}

const { values } = parseArgs({
  options: {
    'object-bytes': { type: 'string', default: '110000' },
    'in-flight': { type: 'string', default: '32' },
    sweep: { type: 'string', default: '64,128' },
    rounds: { type: 'string', default: '9' },
    clients: { type: 'string', default: CLIENTS.join(',') },
    tls: { type: 'boolean', default: false },
    nginx: { type: 'string', default: 'nginx' },
    objects: { type: 'string', default: '/dev/shm' },
    json: { type: 'boolean', default: false },
    markdown: { type: 'boolean', default: false },
  },
});

const objectBytes = countOf('object-bytes', values['object-bytes']);
const inFlight = inFlightFor(countOf('in-flight', values['in-flight']), objectBytes);
const plan: Plan = {
  rounds: countOf('rounds', values.rounds),
  clients: namesOf('clients', values.clients, CLIENTS),
  sweep: values.sweep === 'none' ? [] : values.sweep.split(',').map((text) => countOf('sweep', text)),
};
const nginx = found(values.nginx);
if (nginx === null) {
  process.stderr.write(
    `peers: ${values.nginx} is not there: apt-get install nginx-light, or name the file with --nginx\n`,
  );
  process.exit(2);
}
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const folder = temporaryFolder(tmpdir());
const memory = temporaryFolder(values.objects);
const objects = makeObjects(memory, objectBytes);
const store = await startNginx(nginx, folder, memory, values.tls);
try {
  const etag = etagOf(statSync(join(memory, BUCKET, objects.keys[0]!)));
  const peers = await compare({ objects, store, etag, tls: values.tls, inFlight, folder }, plan);
  const show = values.markdown ? peersMarkdown : peersText;
  process.stdout.write(values.json ? `${JSON.stringify(peers)}\n` : show(peers));
} finally {
  await store.stop();
}
