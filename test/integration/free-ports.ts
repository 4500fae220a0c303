import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/**
 * Ports of the loopback interface that nobody listens on. Another process may take one before its user does: who uses them must
 * bear that, by trying again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
