import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Certificate } from './certificate.js';
import { hasTool } from './tool.js';

const START_MS = 10_000;

/** nginx with one worker on loopback, from files in `folder`; one port plain, the other TLS 1.3. Signatures are not looked at. */
export class Nginx {
  private constructor(
    readonly plainPort: number,
    readonly tlsPort: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(folder: string, certificate: Certificate): Promise<Nginx> {
    if (!(await hasTool('nginx'))) throw new Error('nginx is missing: apt-get install nginx-light');
    const [plainPort, tlsPort] = await freePorts(2);
    const file = join(folder, 'nginx.conf');
    writeFileSync(file, configText(folder, certificate, plainPort!, tlsPort!));
    const child = spawn('nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'inherit', 'inherit'] });
    const nginx = new Nginx(plainPort!, tlsPort!, child);
    try {
      await nginx.#answers();
    } catch (error) {
      await nginx.stop();
      throw error;
    }
    return nginx;
  }

  /** Ends the process that was started here, and with it its worker. */
  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const over = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await over;
  }

  async #answers(): Promise<void> {
    const until = Date.now() + START_MS;
    for (;;) {
      try {
        await fetch(`http://127.0.0.1:${this.plainPort}/`, { signal: AbortSignal.timeout(1000) });
        return;
      } catch (cause) {
        if (this.child.exitCode !== null || Date.now() > until) {
          throw new Error('nginx does not start', { cause });
        }
        await sleep(20);
      }
    }
  }
}

function configText(folder: string, { certFile, keyFile }: Certificate, plain: number, tls: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/tmp-${name};`)
    .join(' ');
  return `daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? `user ${userInfo().username};` : ''}
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log warn;
events { worker_connections 8192; }
http {
  access_log off; ${temporary}
  sendfile on; tcp_nopush on; tcp_nodelay on; etag on; default_type image/jpeg;
  keepalive_timeout 1h; keepalive_requests 1000000000; reset_timedout_connection on;
  open_file_cache max=1000 inactive=1h; open_file_cache_valid 1h;
  server {
    listen 127.0.0.1:${plain};
    listen 127.0.0.1:${tls} ssl;
    ssl_certificate ${certFile}; ssl_certificate_key ${keyFile};
    ssl_protocols TLSv1.3;
    root ${folder};
  }
}
`;
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
