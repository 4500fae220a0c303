import type { S3Client } from '@aws-sdk/client-s3';
import { routeTo } from './proxy.js';

/** The fields of the SDK's request that say where it goes. */
interface Going {
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  headers: Record<string, string>;
}

/**
 * Sends plain http requests to the proxy that the environment names for their host: with the whole URL as their target
 * (RFC 9112, 3.2.2). It comes after the signature, which is of the path alone. (https goes through the agent's tunnels.)
 */
export function throughProxies(client: S3Client, env: NodeJS.ProcessEnv): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      if (isGoing(args.request)) redirect(args.request, env);
      return next(args);
    },
    { step: 'deserialize', priority: 'low', name: 'os2gProxy' },
  );
}

function isGoing(request: unknown): request is Going {
  return typeof request === 'object' && request !== null && 'hostname' in request && 'headers' in request;
}

function redirect(request: Going, env: NodeJS.ProcessEnv): void {
  if (request.protocol !== 'http:') return;
  const bare = request.hostname.replace(/^\[|\]$/g, '');
  const proxy = routeTo(false, bare, request.port ?? 80, env);
  if (proxy === null) return;
  const name = bare.includes(':') ? `[${bare}]` : bare;
  const place = request.port === undefined || request.port === 80 ? name : `${name}:${request.port}`;
  request.path = `http://${place}${request.path}`;
  request.hostname = proxy.hostname;
  request.port = proxy.port;
  if (proxy.authorization !== null) request.headers['proxy-authorization'] = proxy.authorization;
}
