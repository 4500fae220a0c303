import { lookup } from 'node:dns/promises';
import { connect as connectTcp, isIP } from 'node:net';
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls';
import { isTlsCode } from '../../../s3/error-codes.js';
import { tlsFailure } from '../../../s3/tls-failure.js';
import { openTunnel, ProxyError } from '../../../s3/tunnel.js';
import { tell } from '../../../wording.js';
import { counted, formatSeconds } from '../../output/numbers.js';
import { type Check, fail, ok, warn } from '../check.js';
import type { Asker } from './ask.js';

const CONNECT_LIMIT_MS = 5000;
const EXPIRES_SOON_MS = 14 * 24 * 3600_000;

/** The host that is connected to: the store, or the proxy before it. */
function peerOf({ access, proxy }: Asker): { hostname: string; port: number; what: string } {
  return proxy === null
    ? { ...access, what: access.hostname }
    : { ...proxy, what: `the proxy ${proxy.hostname} (${proxy.from})` };
}

/** Addresses of the store's host, or of the proxy's before it. */
export async function dnsCheck(asker: Asker): Promise<{ check: Check; addresses: string[] }> {
  const { hostname, what } = peerOf(asker);
  const name = 'dns';
  if (isIP(hostname) !== 0) return { check: ok(name, `${what} is an address`), addresses: [hostname] };
  const begin = performance.now();
  try {
    const addresses = (await lookup(hostname, { all: true })).map(({ address }) => address);
    const seconds = (performance.now() - begin) / 1000;
    const detail = `${what}: ${addresses.join(', ')} (${formatSeconds(seconds)})`;
    return { check: { ...ok(name, detail), figures: { seconds } }, addresses };
  } catch (error) {
    const code = codeOf(error);
    const why = code === 'ENOTFOUND' ? 'there is no such name' : `the name could not be looked up (${code})`;
    const mend =
      asker.proxy === null
        ? "check the host in --endpoint, the bucket's name where it is part of it, and this machine's DNS"
        : `check ${asker.proxy.from}, and this machine's DNS`;
    return { check: fail(name, `${what}: ${why}`, mend), addresses: [] };
  }
}

/** A TCP connection to each address. */
export async function connectCheck(asker: Asker, addresses: readonly string[]): Promise<Check> {
  const { port } = peerOf(asker);
  const name = 'connect';
  const outcomes = await Promise.all(addresses.map((address) => reach(address, port)));
  const failed = outcomes.filter(({ why }) => why !== null);
  const said = outcomes
    .map(({ address, why, seconds }) => `${address} ${why ?? formatSeconds(seconds)}`)
    .join(', ');
  const mend =
    asker.proxy === null
      ? 'check host and port of --endpoint, that the store runs, and that no firewall stands between'
      : `check ${asker.proxy.from}; a store that is reached without it belongs into no_proxy`;
  if (failed.length === outcomes.length) return fail(name, `port ${port}: ${said}`, mend);
  if (failed.length > 0) {
    const detail = `port ${port}: ${counted(failed.length, 'address', 'addresses')} of ${outcomes.length} not reached: ${said}`;
    return warn(name, detail, `each attempt there costs time: ${mend}`);
  }
  const seconds = Math.min(...outcomes.map((outcome) => outcome.seconds));
  return { ...ok(name, `port ${port}: ${said}`), figures: { seconds } };
}

interface Reached {
  address: string;
  /** Null: reached. */
  why: string | null;
  seconds: number;
}

function reach(host: string, port: number): Promise<Reached> {
  const begin = performance.now();
  return new Promise((resolve) => {
    const socket = connectTcp({ host, port, timeout: CONNECT_LIMIT_MS });
    const end = (why: string | null): void => {
      socket.destroy();
      resolve({ address: host, why, seconds: (performance.now() - begin) / 1000 });
    };
    socket.once('connect', () => end(null));
    socket.once('timeout', () => end(`no answer within ${CONNECT_LIMIT_MS / 1000} s`));
    socket.once('error', (error) => end(REASONS[codeOf(error)] ?? error.message));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refused: nothing listens there',
  ENETUNREACH: 'no route to its network',
  EHOSTUNREACH: 'no route to it',
};

/** A handshake with the store: who signed its certificate, for how long it holds, and whether it is trusted. */
export async function tlsCheck(asker: Asker): Promise<Check> {
  const name = 'tls';
  const { access } = asker;
  if (access.protocol === 'http:') return ok(name, 'none: the endpoint begins with http://');
  try {
    const { socket, expires, issuer } = await shake(asker);
    const { authorizationError } = socket;
    const protocol = socket.getProtocol();
    socket.destroy();
    const signed = `certificate of ${issuer}, valid until ${expires.toISOString().slice(0, 10)}`;
    if (authorizationError) {
      const { what, mend } = tlsFailure(
        String(authorizationError),
        REFUSED[String(authorizationError)] ?? '',
      );
      return fail(name, `the certificate is not trusted: ${what}; ${signed}`, tell(mend, 'command'));
    }
    if (expires.getTime() - Date.now() < EXPIRES_SOON_MS) {
      return warn(name, `${signed}: it runs out soon`, 'have the certificate of the store renewed');
    }
    return ok(name, `${protocol}, ${signed}${access.caPem === null ? '' : ', trusted with the CA bundle'}`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof ProxyError) {
      return fail(
        name,
        message,
        `check ${asker.proxy?.from}, and what the proxy lets through (CONNECT to port ${access.port})`,
      );
    }
    if (!isTlsCode(codeOf(error))) {
      const mend =
        'check host, port and protocol of --endpoint: what listens there may speak http, or no HTTP at all';
      return fail(name, `the handshake failed: ${message}`, mend);
    }
    const { what, mend } = tlsFailure(codeOf(error), message);
    return fail(name, what, tell(mend, 'command'));
  }
}

/** OpenSSL's codes in words, of the usual ones. */
const REFUSED: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed, by nobody that is trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'its CA is not among those that are trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its CA is not among those that are trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its CA is not among those that are trusted here, or the store sends no chain',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another host name',
};

interface Shaken {
  socket: TLSSocket;
  issuer: string;
  expires: Date;
}

/** Nothing is sent on the connection, so that an untrusted certificate may be looked at, too. */
function shake({ access, proxy }: Asker): Promise<Shaken> {
  const { hostname, port, caPem, clientCertificate } = access;
  return new Promise((resolve, reject) => {
    const over = (place: object): void => {
      const socket = connectTls({
        ...place,
        ca: caPem ?? undefined,
        cert: clientCertificate?.certPem,
        key: clientCertificate?.keyPem,
        servername: isIP(hostname) === 0 ? hostname : undefined,
        checkServerIdentity: (_name, certificate) => checkServerIdentity(hostname, certificate),
        rejectUnauthorized: false,
        timeout: CONNECT_LIMIT_MS,
      });
      socket.once('secureConnect', () => {
        const { issuer, valid_to } = socket.getPeerCertificate();
        const by = issuer?.O ?? issuer?.CN ?? 'an unnamed issuer';
        resolve({ socket, issuer: String(by), expires: new Date(valid_to) });
      });
      socket.once('timeout', () =>
        socket.destroy(new Error(`no handshake within ${CONNECT_LIMIT_MS / 1000} s`)),
      );
      socket.on('error', reject);
      socket.once('close', () => reject(new Error('the connection was closed before TLS was set up')));
    };
    if (proxy === null) {
      over({ host: hostname, port });
      return;
    }
    const store = `${isIP(hostname) === 6 ? `[${hostname}]` : hostname}:${port}`;
    const tunnel = openTunnel(proxy, store, (error) => {
      if (error === null) over({ socket: tunnel });
      else {
        tunnel.destroy();
        reject(error);
      }
    });
    tunnel.setTimeout(CONNECT_LIMIT_MS, () => tunnel.destroy(new Error('no answer to CONNECT')));
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
