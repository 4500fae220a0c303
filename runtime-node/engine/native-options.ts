import type { NativeEngineOptions } from '../native/module.js';
import { exemptionsOf, proxySetting } from '../s3/proxy.js';
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
    proxy: proxySetting(tls, env)?.url,
    noProxy: exemptionsOf(env),
    wallOffsetMs: wallMs === undefined ? 0 : wallMs() - Date.now(),
  };
}
