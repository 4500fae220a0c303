// CPU time of this process for one GET through the feed, beside bare undici. See bench/README.md.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BareDispatch } from './get/bare-dispatch.js';
import { BareRequest } from './get/bare-request.js';
import type { ClientOptions, GetClient } from './get/client.js';
import { FeedClient } from './get/feed-client.js';
import { type MachineState, MachineWatch } from './measure/machine.js';
import { countOf, namesOf } from './measure/options.js';
import { machineText, tableText } from './measure/report.js';
import { type Spread, spreadOf } from './measure/spread.js';

const AIM_RATIO = 1.3;
const WARM_UP_ROUNDS = 2;
/** Larger than the caches of most machines, so that no client lands its bytes in them. */
const LANDING_BYTES = 32 * 2 ** 20;

/** The base of the ratios first. */
const CLIENTS = ['undici-dispatch', 'feed', 'undici-request', 'feed-native'] as const;
type ClientName = (typeof CLIENTS)[number];

interface ClientFigures {
  name: ClientName;
  /** CPU time of the process, user and system, for one GET. */
  cpuUs: Spread;
  systemUs: Spread;
  /** GETs a second; the store and this machine set it as much as the client. */
  perSecond: Spread;
  /** CPU time against `undici-dispatch`, round by round; null where that was not measured. */
  ratio: Spread | null;
}

interface GetCost {
  schema: 'os2g.bench-get-cost/1';
  objectBytes: number;
  concurrency: number;
  requestsPerRound: number;
  clients: ClientFigures[];
  machine: MachineState;
}

interface Round {
  cpuUs: number;
  systemUs: number;
  perSecond: number;
}

async function startServer(objectBytes: number): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(new URL('./get/server.js', import.meta.url)), [String(objectBytes)]);
  const [port] = (await once(child, 'message', { signal: AbortSignal.timeout(10_000) })) as [number];
  return { child, port };
}

async function stopServer(child: ChildProcess): Promise<void> {
  const over = once(child, 'exit');
  child.disconnect();
  await over;
}

async function open(name: ClientName, options: ClientOptions): Promise<GetClient> {
  if (name === 'feed') return FeedClient.open(options, 'portable');
  if (name === 'feed-native') return FeedClient.open(options, 'native');
  return name === 'undici-dispatch' ? new BareDispatch(options) : new BareRequest(options);
}

async function runRound(client: GetClient, requests: number): Promise<Round> {
  const cpu = process.cpuUsage();
  const start = process.hrtime.bigint();
  const done = await client.round(requests);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  return { cpuUs: (user + system) / done, systemUs: system / done, perSecond: done / seconds };
}

interface Plan {
  objectBytes: number;
  concurrency: number;
  rounds: number;
  requests: number;
  only: ClientName[];
}

async function measure({ objectBytes, concurrency, rounds, requests, only }: Plan): Promise<GetCost> {
  const { child, port } = await startServer(objectBytes);
  const options = { port, objectBytes, concurrency, landingBytes: LANDING_BYTES };
  const clients = new Map<ClientName, GetClient>();
  const results = new Map<ClientName, Round[]>();
  const watch = new MachineWatch();
  try {
    for (const name of only) {
      clients.set(name, await open(name, options));
      results.set(name, []);
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      if (round >= 0) watch.calibrate();
      // Every other round the other way about: what one client leaves to the collector falls on each in turn.
      const order = round % 2 === 0 ? [...clients] : [...clients].reverse();
      for (const [name, client] of order) {
        const result = await runRound(client, requests);
        if (round >= 0) results.get(name)?.push(result);
      }
    }
  } finally {
    for (const client of clients.values()) await client.close();
    await stopServer(child);
  }
  return {
    schema: 'os2g.bench-get-cost/1',
    objectBytes,
    concurrency,
    requestsPerRound: requests,
    clients: figuresOf(results),
    machine: watch.state(),
  };
}

function figuresOf(results: Map<ClientName, Round[]>): ClientFigures[] {
  const base = results.get('undici-dispatch');
  return [...results].map(([name, rounds]) => ({
    name,
    cpuUs: spreadOf(rounds.map((round) => round.cpuUs)),
    systemUs: spreadOf(rounds.map((round) => round.systemUs)),
    perSecond: spreadOf(rounds.map((round) => round.perSecond)),
    ratio: base ? spreadOf(rounds.map((round, i) => round.cpuUs / base[i]!.cpuUs)) : null,
  }));
}

function text(cost: GetCost): string {
  const cell = ({ min, median, max }: Spread, digits: number): string =>
    [min, median, max].map((value) => value.toFixed(digits)).join(' / ');
  const head = ['client', 'CPU us/GET', 'of it system', 'GETs/s', 'ratio to undici-dispatch'];
  const rows = cost.clients.map((client) => [
    client.name,
    cell(client.cpuUs, 1),
    cell(client.systemUs, 1),
    cell(client.perSecond, 0),
    client.ratio ? cell(client.ratio, 2) : '-',
  ]);
  return (
    `min / median / max of ${cost.clients[0]?.cpuUs.rounds} rounds of ${cost.requestsPerRound} GETs, ` +
    `${cost.objectBytes} bytes each, ${cost.concurrency} in flight\n\n${tableText([head, ...rows])}\n` +
    aimText(cost) +
    machineText(cost.machine)
  );
}

function aimText({ clients }: GetCost): string {
  const feed = clients.find(({ name }) => name === 'feed');
  const base = clients.find(({ name }) => name === 'undici-dispatch');
  if (!feed?.ratio || !base) return '';
  const { median } = feed.ratio;
  const ofMinima = feed.cpuUs.min / base.cpuUs.min;
  return (
    `feed: aim ${AIM_RATIO} times undici-dispatch, median ${median.toFixed(2)} ` +
    `(least round to least round ${ofMinima.toFixed(2)}): ${median <= AIM_RATIO ? 'met' : 'missed'}\n`
  );
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '15' },
    requests: { type: 'string', default: '3200' },
    concurrency: { type: 'string', default: '32' },
    'object-bytes': { type: 'string', default: '110000' },
    clients: { type: 'string', default: CLIENTS.join(',') },
    json: { type: 'boolean', default: false },
  },
});
const cost = await measure({
  objectBytes: countOf('object-bytes', values['object-bytes']),
  concurrency: countOf('concurrency', values.concurrency),
  rounds: countOf('rounds', values.rounds),
  requests: countOf('requests', values.requests),
  only: namesOf('clients', values.clients, CLIENTS),
});
process.stdout.write(values.json ? `${JSON.stringify(cost)}\n` : text(cost));
