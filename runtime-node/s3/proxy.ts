import { BlockList, isIP } from 'node:net';
import { ConfigError } from '../errors.js';
import { shownUrl } from './secrets.js';

/** A proxy to connect to. */
export interface ProxyRoute {
  /** Without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Value of Proxy-Authorization; null: none is sent. Never logged, never part of an error. */
  readonly authorization: string | null;
  /** The variable that names it. */
  readonly from: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_PORT = 1080; // curl's

/** The URL of a proxy as it stands in a variable. */
export interface ProxySetting {
  readonly url: string;
  readonly from: string;
}

/**
 * The proxy that the environment names, as curl reads it: lower case first, HTTP_PROXY in lower case only (a CGI script's
 * caller can set the other). https://everything.curl.dev/usingcurl/proxies/env.html
 *
 * @throws ConfigError `bad_option` that names a variable that holds no proxy
 */
export function proxySetting(tls: boolean, env: Env): ProxySetting | null {
  const names = tls
    ? ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
    : ['http_proxy', 'all_proxy', 'ALL_PROXY'];
  const from = names.find((name) => env[name]);
  if (from === undefined) return null;
  const text = (env[from] as string).trim();
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && new URL(url).protocol === 'http:') return { url, from };
  throw new ConfigError(
    'bad_option',
    `${from}: ${shownUrl(text)} is not the URL of an HTTP proxy`,
    'write http://HOST:PORT, with user name and password before the host where it asks for them',
    { option: from },
  );
}

/** The hosts that are reached without a proxy. */
export const exemptionsOf = (env: Env): string | undefined => env.no_proxy ?? env.NO_PROXY;

/**
 * How a host is reached; null: directly.
 *
 * @param hostname without brackets
 * @throws ConfigError as `proxySetting`
 */
export function routeTo(tls: boolean, hostname: string, port: number, env: Env): ProxyRoute | null {
  const setting = proxySetting(tls, env);
  if (setting === null || isExempt(hostname, port, exemptionsOf(env) ?? '')) return null;
  return routeOf(setting);
}

function routeOf({ url, from }: ProxySetting): ProxyRoute {
  const authority = url.slice(url.indexOf('//') + 2).split(/[/?#]/, 1)[0] ?? '';
  const at = authority.lastIndexOf('@');
  const { host, port } = splitPort(authority.slice(at + 1));
  return {
    hostname: host,
    port: port === null ? DEFAULT_PORT : Number(port),
    authorization: at < 0 ? null : basic(authority.slice(0, at)),
    from,
  };
}

/** RFC 7617; the URL's percent-encoding is undone. */
function basic(userAndPassword: string): string {
  const colon = userAndPassword.indexOf(':');
  const user = colon < 0 ? userAndPassword : userAndPassword.slice(0, colon);
  const password = colon < 0 ? '' : userAndPassword.slice(colon + 1);
  const plain = Buffer.concat([decoded(user), Buffer.from(':'), decoded(password)]);
  return `Basic ${plain.toString('base64')}`;
}

/** An escape that is none stays as it stands. */
function decoded(text: string): Buffer {
  const pieces = text.split(/(%[0-9a-f]{2})/i);
  return Buffer.concat(
    pieces.map((piece, i) => Buffer.from(i % 2 ? piece.slice(1) : piece, i % 2 ? 'hex' : 'utf8')),
  );
}

/** Host without brackets, and what stands after the last colon that is a port's. */
function splitPort(place: string): { host: string; port: string | null } {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(place);
  if (bracketed) return { host: bracketed[1] ?? '', port: bracketed[2] ?? null };
  const [host = '', port, ...more] = place.split(':');
  return port === undefined || more.length > 0 ? { host: place, port: null } : { host, port };
}

/**
 * Whether a list of hosts as in NO_PROXY names this one. As curl reads it: a name stands for itself and all names under it,
 * with or without a dot before it; addresses match as addresses or as a CIDR block; `*` is everything.
 */
export function isExempt(hostname: string, port: number, list: string): boolean {
  const host = hostname.replace(/\.+$/, '').toLowerCase();
  return list
    .split(/[, \t]/)
    .filter((entry) => entry !== '')
    .some((entry) => names(entry, host, port));
}

function names(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  const block = /^\[?([^\]/]*)\]?\/(.*)$/.exec(entry);
  if (block && isIP(host) !== 0) return inBlock(host, block[1] ?? '', block[2] ?? '');
  const { host: named, port: namedPort } = splitPort(entry);
  if (namedPort !== null && Number(namedPort) !== port) return false;
  if (isIP(host) !== 0) return isIP(named) !== 0 && inBlock(host, named, isIP(named) === 4 ? '32' : '128');
  const name = named
    .replace(/^\*\./, '')
    .replace(/^\.+|\.+$/g, '')
    .toLowerCase();
  return name !== '' && (host === name || host.endsWith(`.${name}`));
}

function inBlock(address: string, network: string, bits: string): boolean {
  const family = isIP(network);
  if (family === 0 || isIP(address) !== family || !/^\d{1,3}$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, Number(bits), type);
  return list.check(address, type);
}
