import { S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { ConfigError } from '../errors.js';
import { option, words } from '../wording.js';
import { makeAgents, type Trust } from './agents.js';
import { readCaBundle } from './ca-bundle.js';
import { readClientCertificate } from './client-certificate.js';
import { RefreshedCredentials } from './credentials.js';
import { type ResolvedEndpoint, resolveEndpoint } from './endpoint.js';
import { checkEndpoint, type S3Options } from './location.js';
import { throughProxies } from './sdk-proxy.js';
import { withoutVersionWarning } from './sdk-warning.js';
import { caBundleSetting, configuredEndpoint, readSharedConfig } from './shared-config.js';

const CONNECT_LIMIT_MS = 5000;
const IDLE_LIMIT_MS = 30_000;
const REQUEST_LIMIT_MS = 120_000;
/** For stores that do not care; AWS's own default. */
const ANY_REGION = 'us-east-1';

export interface OpenedClient {
  client: S3Client;
  /** Null: anonymous. */
  credentials: RefreshedCredentials | null;
  trust: Trust;
  /** Refuses an endpoint of AWS where no region was given. */
  requireRegion: (endpoint: ResolvedEndpoint) => void;
}

type Config = S3ClientConfig & {
  /** Read by the providers of shared files: keys that another program renews there are seen. */
  ignoreCache: boolean;
};

/** An S3Client by the AWS conventions, with the SDK's retries and unasked checksums off. @throws ConfigError, StoreError */
export async function openClient(options: S3Options): Promise<OpenedClient> {
  const shared = await readSharedConfig(options.profile);
  const endpoint =
    options.endpoint === undefined ? configuredEndpoint(shared) : checkEndpoint(options.endpoint);
  const bundle = caBundleSetting(options.caBundle, shared);
  const trust: Trust = {
    caPem: await readCaBundle(bundle.file, bundle.option),
    clientCertificate: await readClientCertificate(options.clientCert ?? null, options.clientKey ?? null),
  };

  const config = baseConfig(options, endpoint, trust);
  const scout = makeClient({ ...config, ...ANONYMOUS, region: ANY_REGION });
  const isAws = (await resolveEndpoint(scout, 'os2g-probe')).isAws;
  const region =
    options.region ?? (await configuredRegion(config)) ?? (process.env.AWS_DEFAULT_REGION || null);

  // The chain of a client without credentials of its own is the SDK's default one.
  const chain = makeClient({ ...config, region: region ?? ANY_REGION });
  const credentials = options.anonymous ? null : await RefreshedCredentials.open(chain.config.credentials);
  const client = makeClient({
    ...config,
    region: region ?? ANY_REGION,
    forcePathStyle: options.pathStyle === true || !isAws,
    ...(credentials === null ? ANONYMOUS : { credentials: () => identityOf(credentials) }),
  });
  throughProxies(client, process.env);
  return {
    client,
    credentials,
    trust,
    requireRegion: (endpoint) => {
      if (endpoint.isAws && region === null) throw noRegion();
    },
  };
}

const makeClient = (config: S3ClientConfig): S3Client => withoutVersionWarning(() => new S3Client(config));

function baseConfig(options: S3Options, endpoint: string | null, trust: Trust): Config {
  return {
    endpoint: endpoint ?? undefined,
    // It would be looked up again, in the profile of AWS_PROFILE.
    ignoreConfiguredEndpointUrls: true,
    profile: options.profile,
    ignoreCache: true,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_LIMIT_MS,
      socketTimeout: IDLE_LIMIT_MS,
      requestTimeout: REQUEST_LIMIT_MS,
      throwOnRequestTimeout: true,
      ...makeAgents(trust, process.env, { keepAlive: true, maxSockets: 16 }),
    },
  };
}

/** Nothing is signed and no provider is asked. */
const ANONYMOUS: Pick<S3ClientConfig, 'credentials' | 'signer'> = {
  credentials: { accessKeyId: '', secretAccessKey: '' },
  signer: { sign: async (request) => request },
};

/** An identity that the SDK takes for expired at once: it then asks for each call, and always gets ours as they are now. */
async function identityOf(source: RefreshedCredentials) {
  const { accessKeyId, secretAccessKey, sessionToken } = source.current();
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? undefined, expiration: new Date(0) };
}

async function configuredRegion(config: Config): Promise<string | null> {
  try {
    return await makeClient({ ...config, ...ANONYMOUS }).config.region();
  } catch {
    return null; // none is configured; whether one is needed shows with the endpoint
  }
}

function noRegion(): ConfigError {
  return new ConfigError(
    'no_region',
    'no AWS region is given',
    words`give ${option('s3.region')}, or set AWS_REGION, or region in the profile of ~/.aws/config`,
    { option: 's3.region' },
  );
}
