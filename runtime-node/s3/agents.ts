import { Agent as HttpAgent, type AgentOptions as HttpOptions } from 'node:http';
import { type AgentOptions, Agent as HttpsAgent, type RequestOptions } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import type { ClientCertificate } from './client-certificate.js';
import { routeTo } from './proxy.js';
import { openTunnel } from './tunnel.js';

/** How connections to a store and to providers of credentials are made. */
export interface Trust {
  /** PEM; null: the built-in certificates. */
  readonly caPem: string | null;
  readonly clientCertificate: ClientCertificate | null;
}

/** Agents of Node's HTTP client: kept connections, certificates always verified, proxies as the environment names them. */
export function makeAgents(
  { caPem, clientCertificate }: Trust,
  env: NodeJS.ProcessEnv,
  options: HttpOptions,
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const trusted: AgentOptions = {
    ...options,
    rejectUnauthorized: true,
    ca: caPem ?? undefined,
    cert: clientCertificate?.certPem,
    key: clientCertificate?.keyPem,
  };
  return { httpAgent: new HttpAgent(options), httpsAgent: new TunnelAgent(trusted, env) };
}

type Done = (error: Error | null, socket: Duplex) => void;

/** An agent for https that goes through CONNECT where a proxy is named for the host. */
class TunnelAgent extends HttpsAgent {
  readonly #env: NodeJS.ProcessEnv;

  constructor(options: AgentOptions, env: NodeJS.ProcessEnv) {
    super(options);
    this.#env = env;
  }

  override createConnection(options: RequestOptions, done: Done): Duplex | null | undefined {
    const host = String(options.host);
    const hostname = host.replace(/^\[|\]$/g, '');
    const port = Number(options.port);
    const proxy = routeTo(true, hostname, port, this.#env);
    if (proxy === null) return super.createConnection(options, done);
    const store = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
    const tunnel = openTunnel(proxy, store, (error) => {
      if (error === null) {
        // TLS with the store, not the proxy: errors and 'secureConnect' are the request's own.
        done(null, connectTls({ ...(options as object), host: hostname, socket: tunnel }));
        return;
      }
      tunnel.destroy();
      done(error, tunnel);
    });
    return undefined;
  }
}
