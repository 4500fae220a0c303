import { GetObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { ConfigError, Os2gError } from '../errors.js';
import { option, words } from '../wording.js';

/** Where requests for a bucket go, as the SDK's endpoint rules have it. */
export interface ResolvedEndpoint {
  protocol: 'http:' | 'https:';
  /** Without brackets. */
  hostname: string;
  port: number;
  /** The Host header: brackets where IPv6, a port where it is not the protocol's own. */
  host: string;
  /** Encoded, before the key: '' or '/base/bucket'. */
  pathPrefix: string;
  addressing: 'host' | 'path';
  signingRegion: string;
  signingName: string;
  /** One of AWS's own, not a store of somebody else's. */
  isAws: boolean;
}

/** A directory bucket, or an access point of one: the SDK signs with a session, and the name of the zone is in the host. */
const DIRECTORY = /--xa?-s3$/;
const PROBE_KEY = 'os2g-probe';
/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/MultiRegionAccessPointRequests.html: an ARN without a region. */
const MULTI_REGION = /^arn:[^:]*:s3::[^:]*:accesspoint[:/]/;

/**
 * Asks the SDK where it would send a GET: the request is built and never sent. So access points, dual-stack, FIPS and
 * accelerated endpoints are the SDK's business, not ours.
 *
 * @throws ConfigError where the rules refuse, or ask for a signature that is not SigV4
 */
export async function resolveEndpoint(client: S3Client, bucket: string): Promise<ResolvedEndpoint> {
  if (DIRECTORY.test(bucket)) throw unsupported(bucket, 'sessions of a directory bucket');
  // With an endpoint of its own the SDK refuses such a name in other words, and not for this reason.
  if (MULTI_REGION.test(bucket)) throw unsupported(bucket, 'requests signed with sigv4a');
  const command = new GetObjectCommand({ Bucket: bucket, Key: PROBE_KEY });
  let built: { request: unknown; scheme: AuthScheme } | null = null;
  command.middlewareStack.add(
    (_next, context) => async (args) => {
      built = { request: args.request, scheme: authSchemeOf(context) };
      throw new Built();
    },
    { step: 'build', priority: 'high', name: 'os2gEndpoint' },
  );
  try {
    await client.send(command);
  } catch (cause) {
    if (!(cause instanceof Built)) throw refused(bucket, cause);
  }
  if (built === null) throw new Error('the SDK built no request');
  return endpointOf(bucket, built);
}

class Built extends Error {}

interface AuthScheme {
  name: string;
  signingName: string;
  signingRegion: string | null;
}

function authSchemeOf(context: { authSchemes?: unknown }): AuthScheme {
  const list: unknown = context.authSchemes;
  const schemes = Array.isArray(list) ? list : [];
  // Where several do (SigV4A and SigV4), the one that we can make.
  const found: unknown = schemes.find((scheme) => stringField(scheme, 'name') === 'sigv4') ?? schemes[0];
  return {
    name: stringField(found, 'name') ?? 'sigv4',
    signingName: stringField(found, 'signingName') ?? 's3',
    signingRegion: stringField(found, 'signingRegion'),
  };
}

function endpointOf(
  bucket: string,
  { request, scheme }: { request: unknown; scheme: AuthScheme },
): ResolvedEndpoint {
  if (scheme.name !== 'sigv4') throw unsupported(bucket, `requests signed with ${scheme.name}`);
  const protocol = stringField(request, 'protocol') === 'http:' ? 'http:' : 'https:';
  const name = stringField(request, 'hostname') ?? '';
  const path = stringField(request, 'path') ?? '';
  const standardPort = protocol === 'http:' ? 80 : 443;
  const port = numberField(request, 'port') ?? standardPort;
  const bare = name.replace(/^\[|\]$/g, '');
  const hostname = bare.includes(':') ? `[${bare}]` : bare;
  const pathPrefix = path.slice(0, path.length - PROBE_KEY.length - 1).replace(/\/+$/, '');
  return {
    protocol,
    hostname: bare,
    port,
    host: port === standardPort ? hostname : `${hostname}:${port}`,
    pathPrefix,
    addressing: pathPrefix.endsWith(`/${encodeURIComponent(bucket)}`) ? 'path' : 'host',
    signingRegion: scheme.signingRegion ?? '',
    signingName: scheme.signingName,
    isAws: isAwsHost(bare),
  };
}

/** One of AWS's own hosts. */
export function isAwsHost(hostname: string): boolean {
  return /(?:^|\.)(?:amazonaws\.com(?:\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn)$/.test(hostname);
}

function unsupported(bucket: string, needs: string): ConfigError {
  return new ConfigError(
    'unsupported_endpoint',
    `bucket ${bucket} needs ${needs}`,
    'use a bucket or an access point of one region (directory buckets and multi-region access points are not supported)',
    { bucket },
  );
}

function refused(bucket: string, cause: unknown): Error {
  if (cause instanceof Os2gError) return cause;
  const what = cause instanceof Error ? cause.message : String(cause);
  return new ConfigError(
    'bad_endpoint',
    `no endpoint for bucket ${bucket}: ${what}`,
    words`check the bucket name, ${option('s3.endpoint')}, ${option('s3.region')} and ${option('s3.pathStyle')}`,
    { bucket, cause },
  );
}

function stringField(value: unknown, field: string): string | null {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : null;
  return typeof found === 'string' ? found : null;
}

function numberField(value: unknown, field: string): number | null {
  const found: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, field) : null;
  return typeof found === 'number' ? found : null;
}
