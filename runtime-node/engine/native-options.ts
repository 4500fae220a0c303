import { ConfigError } from '../errors.js';
import type { NativeEngineOptions } from '../native/module.js';
import { shownUrl } from '../s3/secrets.js';
import type { NativeEngineSettings } from './native.js';

/** @throws ConfigError `bad_option` that names a variable that holds no proxy */
export function nativeOptions(settings: NativeEngineSettings): NativeEngineOptions {
  const { access, limits, verify, maxSockets, threads, wallMs, env = process.env } = settings;
  const tls = access.protocol === 'https:';
  return {
    tls,
    host: access.host,
    hostname: access.hostname,
    port: access.port,
    pathPrefix: access.pathPrefix,
    signingRegion: access.signingRegion,
    signingName: access.signingName,
    requesterPays: access.requesterPays,
    verify,
    ...limits,
    maxConnections: maxSockets,
    threads,
    caPem: access.caPem ?? undefined,
    proxy: proxyFor(tls, env),
    noProxy: env.no_proxy ?? env.NO_PROXY,
    wallOffsetMs: wallMs === undefined ? 0 : wallMs() - Date.now(),
  };
}

/**
 * The proxy that the environment names, as curl reads it: lower case first, HTTP_PROXY in lower case only (a CGI script's
 * caller can set the other). https://everything.curl.dev/usingcurl/proxies/env.html
 */
function proxyFor(tls: boolean, env: NodeJS.ProcessEnv): string | undefined {
  const names = tls
    ? ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']
    : ['http_proxy', 'all_proxy', 'ALL_PROXY'];
  const name = names.find((name) => env[name]);
  if (name === undefined) return undefined;
  const text = env[name] as string;
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  if (URL.canParse(url) && new URL(url).protocol === 'http:') return url;
  throw new ConfigError(
    'bad_option',
    `${name}: ${shownUrl(text)} is not the URL of an HTTP proxy`,
    'write http://HOST:PORT, with user name and password before the host where it asks for them',
    { option: name },
  );
}
