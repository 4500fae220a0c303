import { type Clock, monotonicClock } from '../../clock.js';
import { chooseEngine } from '../../engine/choose.js';
import { createNativeEngine } from '../../engine/native.js';
import { createPortableEngine } from '../../engine/portable.js';
import { Os2gError } from '../../errors.js';
import { eventLoopTimers } from '../../feed/timers.js';
import type { BucketAccess } from '../../s3/access.js';
import { isAwsHost } from '../../s3/endpoint.js';
import type { ListedObject } from '../../s3/listing.js';
import { parseS3Url, type S3Location, type S3Options } from '../../s3/location.js';
import { openStore, type S3Store } from '../../s3/store.js';
import { type Check, fail, info, ok, skip, warn } from './check.js';
import { skewCheck } from './clock-skew.js';
import { answersCheck, dateOf, isOfS3, noAnswerCheck, regionCheck } from './store/answers.js';
import { Asker } from './store/ask.js';
import { type Listed, listingCheck } from './store/listing.js';
import { connectCheck, dnsCheck, tlsCheck } from './store/network.js';
import { checksumCheck, headCheck, ifMatchCheck, rangeCheck } from './store/objects.js';
import { type Bounds, measure, throughputCheck } from './store/throughput.js';

/** No request is sent for it: the SDK's rules give an endpoint, and its providers credentials, for any bucket's name. */
const ANY_BUCKET = 'os2g-doctor';

const STEPS = [
  'dns',
  'connect',
  'tls',
  'endpoint answers',
  'clock',
  'credentials',
  'region',
  'listing',
] as const;
const OBJECT_STEPS = ['head', 'range', 'if-match', 'checksum'] as const;
/** With the single reads before below 64 MiB together, and within a few seconds; of small objects a few hundred requests tell enough, and cost little. */
const BOUNDS: readonly Bounds[] = [
  { connections: 1, bytes: 16 * 2 ** 20, requests: 256, durationNs: 2e9 },
  { connections: 16, bytes: 46 * 2 ** 20, requests: 256, durationNs: 2e9 },
];
const THROUGHPUT_STEPS = BOUNDS.map(
  ({ connections }) => `throughput (${connections} connection${connections === 1 ? '' : 's'})`,
);

/**
 * The way to a store, step by step: endpoint, DNS, TCP, TLS, whether an S3 answers, its clock; and, where a source is named,
 * credentials, region, listing, and what a read needs. A step whose ground failed is skipped, and says so.
 */
export async function checkStore(
  source: string | undefined,
  s3: S3Options,
  signal: AbortSignal,
): Promise<Check[]> {
  const location = source === undefined ? null : parseS3Url(source);
  let opened: Opened;
  try {
    opened = await open(s3, location);
  } catch (error) {
    const failed = failure(error, location !== null);
    const rest = location === null ? [] : [...STEPS, ...OBJECT_STEPS, ...THROUGHPUT_STEPS];
    return [failed, ...rest.filter((name) => name !== failed.name).map((name) => skip(name, failed.name))];
  }
  try {
    return await new StoreSteps(opened, location, signal).run();
  } finally {
    await opened.store.close();
  }
}

interface Opened {
  store: S3Store;
  access: BucketAccess;
  credentials: Check;
}

async function open(s3: S3Options, location: S3Location | null): Promise<Opened> {
  let credentials: Check | null = null;
  const store = await openStore(s3).catch((error: unknown) => {
    if (!(error instanceof Os2gError) || error.code !== 'no_credentials') throw error;
    credentials = failure(error, location !== null);
    // Where the store is, and whether it answers, can be told without them.
    return openStore({ ...s3, anonymous: true });
  });
  try {
    const access = await store.bucketAccess(location?.bucket ?? ANY_BUCKET);
    return { store, access, credentials: credentials ?? credentialsCheck(store) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

const NAMES: Readonly<Record<string, string>> = { no_credentials: 'credentials', no_profile: 'profile' };
/** Lacking these is no failure before a store is to be read. */
const LACKING = new Set(['no_credentials', 'no_region']);

function failure(error: unknown, isNeeded: boolean): Check {
  if (!(error instanceof Os2gError)) throw error;
  const name = NAMES[error.code] ?? 'endpoint';
  const { message, mend } = error.told('command');
  return isNeeded || !LACKING.has(error.code)
    ? fail(name, message, mend)
    : warn(name, message, `to read a store: ${mend}`);
}

function credentialsCheck({ credentialsFrom, credentialsExpireMs }: S3Store): Check {
  if (credentialsFrom === null) return ok('credentials', 'anonymous: none are sent');
  const until =
    credentialsExpireMs === null ? '' : `, valid until ${new Date(credentialsExpireMs).toISOString()}`;
  return ok('credentials', `found by ${credentialsFrom}${until}`);
}

function endpointCheck(access: BucketAccess, { proxy }: Asker): Check {
  const { protocol, host, pathPrefix, addressing, signingRegion, caPem, clientCertificate } = access;
  const where = addressing === 'path' ? 'bucket in the path' : 'bucket in the host name';
  const base = pathPrefix.replace(`/${ANY_BUCKET}`, '');
  const name = host.replace(`${ANY_BUCKET}.`, '');
  const isTls = protocol === 'https:';
  const more = [
    caPem !== null && isTls ? ', a CA bundle of its own' : '',
    clientCertificate !== null && isTls ? ', with a client certificate' : '',
    proxy === null ? '' : `, through the proxy ${proxy.hostname}:${proxy.port} (${proxy.from})`,
  ];
  return ok('endpoint', `${protocol}//${name}${base}, region ${signingRegion}, ${where}${more.join('')}`);
}

/** The steps in order. Each knows which earlier one it stands on. */
class StoreSteps {
  private readonly checks: Check[] = [];

  constructor(
    private readonly opened: Opened,
    private readonly location: S3Location | null,
    private readonly signal: AbortSignal,
  ) {}

  async run(): Promise<Check[]> {
    const { access, credentials } = this.opened;
    let asker: Asker;
    try {
      asker = new Asker(access, this.signal, process.env);
    } catch (error) {
      this.checks.push(failure(error, true));
      return this.skipAfter('endpoint', [...STEPS]);
    }
    this.checks.push(endpointCheck(access, asker));
    if (this.location === null && isAwsHost(access.hostname)) return [...this.checks, credentials];
    const answering = await this.network(asker);
    this.checks.push(credentials);
    if (this.location === null) return this.checks;
    const ground = answering ?? (credentials.status === 'fail' ? 'credentials' : null);
    if (ground !== null) return this.skipAfter(ground, ['region', 'listing']);
    await this.reading(asker, this.location);
    return this.checks;
  }

  /** @returns the name of the step that failed, or null */
  private async network(asker: Asker): Promise<string | null> {
    const { access, store } = this.opened;
    const { check, addresses } = await dnsCheck(asker);
    if (this.fails(check)) return this.skipped('dns', ['connect', 'tls', 'endpoint answers', 'clock']);
    if (this.fails(await connectCheck(asker, addresses)))
      return this.skipped('connect', ['tls', 'endpoint answers', 'clock']);
    if (this.fails(await tlsCheck(asker))) return this.skipped('tls', ['endpoint answers', 'clock']);
    try {
      const answer = await asker.list(null);
      // A proxy or a gateway may well answer an unsigned request by itself; who lists is an S3.
      const isS3 = isOfS3(answer) || (await this.lists(store));
      if (this.fails(answersCheck(access, answer, isS3))) return this.skipped('endpoint answers', ['clock']);
      this.checks.push(skewCheck(dateOf(answer), Date.now()));
      return null;
    } catch (error) {
      this.checks.push(noAnswerCheck(access, error));
      return this.skipped('endpoint answers', ['clock']);
    }
  }

  private async lists(store: S3Store): Promise<boolean> {
    const { location, signal } = this;
    if (location === null || this.opened.credentials.status === 'fail') return false;
    return (await listingCheck(store, location, signal)).check.status === 'ok';
  }

  private async reading(asker: Asker, location: S3Location): Promise<void> {
    const { access, store } = this.opened;
    const answer = await asker.list(access.credentials?.current() ?? null);
    if (this.fails(regionCheck(access, answer))) {
      this.skipAfter('region', ['listing']);
      return;
    }
    const listed = await listingCheck(store, location, this.signal);
    if (this.fails(listed.check)) this.skipAfter('listing', []);
    else await this.objects(asker, location, listed);
  }

  private async objects(asker: Asker, { bucket }: S3Location, { objects }: Listed): Promise<void> {
    const object = objects.find(({ sizeBytes }) => sizeBytes > 1) ?? objects[0];
    if (object === undefined) {
      this.nothingFor([...OBJECT_STEPS, ...THROUGHPUT_STEPS], 'archived');
      return;
    }
    if (this.fails(await headCheck(this.opened.store, bucket, object, this.signal))) {
      this.skipAfter('head', [], ['range', 'if-match', 'checksum']);
      return;
    }
    if (object.sizeBytes === 0) {
      this.nothingFor(['range', 'if-match', 'checksum', ...THROUGHPUT_STEPS], 'empty');
      return;
    }
    const isRanged = !this.fails(await this.tried('range', () => rangeCheck(asker, object)));
    this.fails(await this.tried('if-match', () => ifMatchCheck(asker, object)));
    this.fails(await this.tried('checksum', () => checksumCheck(asker, object)));
    if (isRanged) await this.throughput(objects);
    else this.skipAfter('range', [], []);
  }

  private nothingFor(names: readonly string[], what: string): void {
    const why = `nothing to try it with: every object of the first page is ${what}`;
    this.checks.push(...names.map((name) => info(name, why)));
  }

  private async tried(name: string, check: () => Promise<Check>): Promise<Check> {
    try {
      return await check();
    } catch (error) {
      const { detail, mend } = noAnswerCheck(this.opened.access, error);
      return fail(name, detail, mend ?? '');
    }
  }

  private async throughput(objects: readonly ListedObject[]): Promise<void> {
    const rows = objects.filter(({ sizeBytes }) => sizeBytes > 0);
    for (const bounds of BOUNDS) {
      const clock = monotonicClock();
      const { engine, name } = this.engineFor(rows, bounds.connections, clock);
      try {
        const sizes = rows.map(({ sizeBytes }) => sizeBytes);
        const measured = await measure(engine, sizes, bounds, clock, eventLoopTimers);
        this.checks.push(throughputCheck(bounds.connections, name, measured));
      } finally {
        await engine.close();
      }
    }
  }

  private engineFor(rows: readonly ListedObject[], maxSockets: number, clock: Clock) {
    const { access } = this.opened;
    const choice = chooseEngine('auto', { clientCertificate: access.clientCertificate !== null });
    const table = {
      rows: rows.length,
      key: (row: number) => rows[row]!.key,
      etag: (row: number) => rows[row]!.etag,
      objectSize: (row: number) => rows[row]!.sizeBytes,
    };
    const limits = { connectNs: 5e9, firstByteNs: 5e9, idleNs: 5e9, totalNs: Number.POSITIVE_INFINITY };
    const settings = { table, access, limits, clock, verify: 'etag' as const, maxSockets };
    const engine =
      choice.name === 'native'
        ? createNativeEngine(choice.native, { ...settings, threads: 1 })
        : createPortableEngine(settings);
    return { engine, name: choice.name };
  }

  /** Takes the check down; whether it failed. */
  private fails(check: Check): boolean {
    this.checks.push(check);
    return check.status === 'fail';
  }

  private skipped(ground: string, names: readonly string[]): string {
    this.checks.push(...names.map((name) => skip(name, ground)));
    return ground;
  }

  private skipAfter(
    ground: string,
    names: readonly string[],
    objectSteps: readonly string[] = OBJECT_STEPS,
  ): Check[] {
    this.skipped(ground, this.location === null ? names : [...names, ...objectSteps, ...THROUGHPUT_STEPS]);
    return this.checks;
  }
}
