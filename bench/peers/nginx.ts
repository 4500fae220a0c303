import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, type Stats, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Certificate, makeCertificate } from './certificate.js';
import { output } from './command.js';

const READY_MS = 10_000;
const POLL_MS = 20;

/** A real web server as the store: path-style GETs are all that the clients need of S3. */
export interface Nginx {
  /** `http://127.0.0.1:PORT` or `https://...` */
  url: string;
  /** PEM file of what TLS clients must trust; null without TLS. */
  caFile: string | null;
  version: string;
  stop(): Promise<void>;
}

/**
 * Starts nginx on loopback with a configuration of its own: one worker, no access log, sendfile.
 * @param command nginx or its path
 * @param folder for configuration, certificate, logs
 * @throws Error that holds what nginx said
 */
export async function startNginx(
  command: string,
  folder: string,
  root: string,
  tls: boolean,
): Promise<Nginx> {
  const port = await freePort();
  const certificate = tls ? await makeCertificate(folder) : null;
  const listen = certificate === null ? listenPlain(port) : listenTls(port, certificate);
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, root, listen));
  const errorLog = join(folder, 'error.log');
  const child = spawn(command, ['-p', folder, '-e', errorLog, '-c', join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = (): Promise<void> => stopped(child);
  process.once('exit', () => child.kill()); // also when this process is interrupted
  try {
    await answers(child, port, errorLog);
    const url = `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
    const version = /nginx\/\S+/.exec(await output(command, ['-v']))?.[0] ?? 'nginx';
    return { url, caFile: certificate?.caFile ?? null, version, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(folder: string, root: string, listen: string): string {
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
  client_header_timeout 1h; # also of a connection that has not asked yet
  open_file_cache max=4096 inactive=1h;
${temporary.map((name) => `  ${name}_temp_path ${join(folder, name)};`).join('\n')}
  root ${root};
  server { ${listen} }
}
`;
}

const listenPlain = (port: number): string => `listen 127.0.0.1:${port} backlog=4096;`;

function listenTls(port: number, { certificateFile, keyFile }: Certificate): string {
  return (
    `listen 127.0.0.1:${port} ssl backlog=4096; ssl_protocols TLSv1.3; ` +
    `ssl_certificate ${certificateFile}; ssl_certificate_key ${keyFile};`
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Once it takes connections. */
async function answers(child: ChildProcess, port: number, errorLog: string): Promise<void> {
  let missing: Error | null = null;
  child.on('error', (error) => {
    missing = error;
  });
  for (let waitedMs = 0; waitedMs < READY_MS; waitedMs += POLL_MS) {
    if (missing !== null) throw missing;
    if (child.exitCode !== null) {
      throw new Error(`nginx ended with code ${child.exitCode}: ${textOf(errorLog)}`);
    }
    if (await listens(port)) return;
    await sleep(POLL_MS);
  }
  throw new Error(`nginx did not answer for ${READY_MS / 1000} s: ${textOf(errorLog)}`);
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** As nginx makes it of a file: its time and its length, in hexadecimal. */
export function etagOf({ mtimeMs, size }: Stats): string {
  return `"${Math.floor(mtimeMs / 1000).toString(16)}-${size.toString(16)}"`;
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
