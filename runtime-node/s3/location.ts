import { ConfigError } from '../errors.js';
import { option, words } from '../wording.js';
import { shownUrl } from './secrets.js';

/** How a store is reached; what is not given is found by the AWS conventions (environment, shared files). */
export interface S3Options {
  /** URL of the store, with or without a base path; default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's, AWS. */
  endpoint?: string;
  region?: string;
  /** Section of the shared configuration files: credentials, region, endpoint, CA bundle; default: AWS_PROFILE, `default`. */
  profile?: string;
  /** No credentials: nothing is signed, no provider is asked. */
  anonymous?: boolean;
  /** The requester pays for requests and transfer. */
  requesterPays?: boolean;
  /** The bucket in the path, not in the host name; by itself for every endpoint that is not AWS's own. */
  pathStyle?: boolean;
  /** File with PEM certificates to trust beside the built-in ones; default: AWS_CA_BUNDLE, ca_bundle of the profile. */
  caBundle?: string;
  /** File with the PEM certificate that is shown to a store which asks for one (mutual TLS); default: none. */
  clientCert?: string;
  /** File with the PEM private key of `clientCert`, without a passphrase; default: it stands in the same file. */
  clientKey?: string;
}

export interface S3Location {
  bucket: string;
  /** Empty: the whole bucket. Never decoded: keys may hold any character. */
  prefix: string;
}

/**
 * `s3://bucket/prefix` in its parts. The bucket may be an access point's ARN. The prefix is taken as it stands.
 *
 * @throws ConfigError where it is no such URL
 */
export function parseS3Url(text: string): S3Location {
  const arn = /^s3:\/\/(arn:(?:[^/]*:outpost\/[^/]+\/|[^/]*)accesspoint[:/][^/]+)(?:\/(.*))?$/s.exec(text);
  const plain = /^s3:\/\/([^/]+)(?:\/(.*))?$/s.exec(text);
  const [, bucket, prefix = ''] = arn ?? plain ?? [];
  if (bucket === undefined || (arn === null && !/^[A-Za-z0-9._-]{3,255}$/.test(bucket))) {
    throw new ConfigError(
      'bad_s3_url',
      // Some tools take keys in such a URL.
      `${text.includes('@') ? shownUrl(text) : JSON.stringify(text)} is not an S3 location`,
      'write s3://BUCKET or s3://BUCKET/PREFIX; a bucket name has 3 to 63 letters, digits, dots and hyphens',
    );
  }
  return { bucket, prefix };
}

/** Checks the URL of an endpoint. @param where what gave it: an option, a variable, a place in a file. @throws ConfigError */
export function checkEndpoint(text: string, where = 's3.endpoint'): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (
    url === null ||
    !isHttp ||
    url.search !== '' ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new ConfigError(
      'bad_endpoint',
      words`${where === 's3.endpoint' ? option(where) : where}: ${shownUrl(text)} is not the URL of a store`,
      'write http://HOST:PORT or https://HOST, with a base path if the store has one, without query, user name or password',
      { option: where },
    );
  }
  return text;
}
