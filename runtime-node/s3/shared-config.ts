import { homedir } from 'node:os';
import { join } from 'node:path';
import { getProfileName, loadSharedConfigFiles } from '@smithy/core/config';
import { ConfigError } from '../errors.js';
import { option, words } from '../wording.js';
import { checkEndpoint } from './location.js';

type Section = Record<string, string | undefined>;

/** The profile that a store is opened with: what of it the SDK reads from another profile, or not at all. */
export interface SharedConfig {
  readonly profile: string;
  /** The profile's section of both files, the configuration file first. */
  readonly settings: Section;
  /** All sections of the configuration file, `services NAME` as `services.NAME`. */
  readonly sections: Readonly<Record<string, Section>>;
}

const DEFAULT_PROFILE = 'default';
const SHOWN_PROFILES = 8;

/**
 * Reads the shared files (~/.aws/config, ~/.aws/credentials, or where AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE lead)
 * for one profile.
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html
 *
 * @param profile default: AWS_PROFILE, then `default`
 * @throws ConfigError `no_profile` where a profile was named and stands in neither file
 */
export async function readSharedConfig(profile: string | undefined): Promise<SharedConfig> {
  const name = getProfileName({ profile });
  const { configFile, credentialsFile } = await loadSharedConfigFiles({ ignoreCache: true });
  const [inConfig, inCredentials] = [configFile[name], credentialsFile[name]];
  if (inConfig === undefined && inCredentials === undefined && name !== DEFAULT_PROFILE) {
    const known = Object.keys({ ...credentialsFile, ...configFile }).filter((section) => !isOther(section));
    throw noProfile(name, profile === undefined, known);
  }
  return { profile: name, settings: { ...inCredentials, ...inConfig }, sections: configFile };
}

const isOther = (section: string): boolean => /^(?:services|sso-session)\./.test(section);

function noProfile(name: string, fromEnvironment: boolean, known: readonly string[]): ConfigError {
  const more = known.length > SHOWN_PROFILES ? ', ...' : '';
  const there =
    known.length === 0
      ? 'neither file has any (AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE say where they are)'
      : `there are ${known.slice(0, SHOWN_PROFILES).join(', ')}${more}`;
  return new ConfigError(
    'no_profile',
    words`${fromEnvironment ? 'AWS_PROFILE' : option('s3.profile')}: there is no profile ${JSON.stringify(name)} in ~/.aws/config or ~/.aws/credentials`,
    `name a profile that exists: ${there}`,
    { option: fromEnvironment ? 'AWS_PROFILE' : 's3.profile' },
  );
}

/**
 * The endpoint that environment and shared files configure, in the order of the SDKs and the AWS CLI; null: AWS's own.
 * The SDK for JavaScript would look it up in the profile of AWS_PROFILE, whatever profile it was given, and sign with the
 * one's keys for the other's store.
 * https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html
 *
 * @throws ConfigError where it is no URL, or a services section is missing
 */
export function configuredEndpoint({ profile, settings, sections }: SharedConfig): string | null {
  const { env } = process;
  const ignored = env.AWS_IGNORE_CONFIGURED_ENDPOINT_URLS || settings.ignore_configured_endpoint_urls;
  if (ignored?.toLowerCase() === 'true') return null;
  for (const name of ['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL']) {
    const value = env[name];
    if (value) return checkEndpoint(value, name);
  }
  const { services, endpoint_url: general } = settings;
  if (services) {
    const section = sections[`services.${services}`];
    if (section === undefined) throw noServices(profile, services);
    const own = section['s3.endpoint_url'];
    if (own) return checkEndpoint(own, `s3 endpoint_url of [services ${services}]`);
  }
  return general ? checkEndpoint(general, `endpoint_url of profile ${profile}`) : null;
}

function noServices(profile: string, services: string): ConfigError {
  return new ConfigError(
    'bad_endpoint',
    `profile ${profile} names the section [services ${services}], which is not in the configuration file`,
    'add the section, or take `services` out of the profile',
    { option: 's3.profile' },
  );
}

/** A CA bundle, and which setting names it. */
export interface CaBundleSetting {
  readonly file: string | null;
  readonly option: string;
}

/** The CA bundle by the order of the AWS CLI: the option, AWS_CA_BUNDLE, `ca_bundle` of the profile. */
export function caBundleSetting(given: string | undefined, shared: SharedConfig): CaBundleSetting {
  if (given !== undefined) return { file: given, option: 's3.caBundle' };
  const fromEnvironment = process.env.AWS_CA_BUNDLE;
  if (fromEnvironment) return { file: fromEnvironment, option: 'AWS_CA_BUNDLE' };
  const file = shared.settings.ca_bundle;
  return { file: file ? expandHome(file) : null, option: `ca_bundle of profile ${shared.profile}` };
}

function expandHome(file: string): string {
  return file.startsWith('~/') ? join(homedir(), file.slice(2)) : file;
}
