import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { selfSigned } from '../../test/store/index.js';

const READY_MS = 10_000;
const POLL_MS = 20;

/** A real web server as the store: path-style GETs are all that the clients need of S3. */
export interface Nginx {
  /** `http://127.0.0.1:PORT`, and the same files over TLS. */
  plainUrl: string;
  tlsUrl: string;
  /** PEM file of what TLS clients must trust. */
  caFile: string;
  version: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx on loopback with a configuration of its own: one worker, no access log, sendfile.
 * @param command nginx or its path
 * @param folder for configuration, certificate, logs
 * @throws Error that holds what nginx said
 */
export async function startNginx(command: string, folder: string, root: string): Promise<Nginx> {
  const [plain, tls] = [await freePort(), await freePort()];
  const { key, cert } = selfSigned();
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, cert);
  writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 });
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, root, plain, tls));
  const errorLog = join(folder, 'error.log');
  const child = spawn(command, ['-p', folder, '-e', errorLog, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = (): Promise<void> => stopped(child);
  const plainUrl = `http://127.0.0.1:${plain}`;
  try {
    const version = await answers(child, plainUrl, errorLog);
    return { plainUrl, tlsUrl: `https://127.0.0.1:${tls}`, caFile, version, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(folder: string, root: string, plain: number, tls: number): string {
  const { uid, username } = userInfo();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `
${uid === 0 ? `user ${username};` : ''}
daemon off;
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
events { worker_connections 4096; }
http {
  access_log off;
  sendfile on;
  tcp_nodelay on;
  etag on;
  default_type application/octet-stream;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  open_file_cache max=4096 inactive=1h;
${temporary.map((name) => `  ${name}_temp_path ${join(folder, name)};`).join('\n')}
  root ${root};
  server { listen 127.0.0.1:${plain} backlog=4096; }
  server {
    listen 127.0.0.1:${tls} ssl backlog=4096;
    ssl_certificate ${join(folder, 'ca.pem')};
    ssl_certificate_key ${join(folder, 'key.pem')};
    ssl_protocols TLSv1.3;
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** What the server calls itself, once it answers. */
async function answers(child: ChildProcess, url: string, errorLog: string): Promise<string> {
  let missing: Error | null = null;
  child.on('error', (error) => {
    missing = error;
  });
  for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += POLL_MS) {
    if (missing !== null) throw missing;
    if (child.exitCode !== null)
      throw new Error(`nginx ended with code ${child.exitCode}: ${textOf(errorLog)}`);
    const answer = await fetch(url).catch(() => null);
    if (answer !== null) return answer.headers.get('server') ?? 'unknown';
    await sleep(POLL_MS);
  }
  throw new Error(`nginx did not answer for ${READY_MS / 1000} s: ${textOf(errorLog)}`);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return 'it left no log';
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const over = once(child, 'exit');
  child.kill('SIGTERM');
  await over;
}
