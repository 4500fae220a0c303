import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from './tool.js';

export interface Certificate {
  caFile: string;
  certFile: string;
  keyFile: string;
}

/** An authority and a certificate of 127.0.0.1 signed by it (P-256), good for a day. */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]) => runTool('openssl', args);
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const extensions = 'subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n';
  writeFileSync(at('extensions'), extensions);
  await openssl(
    ...['req', '-x509', ...key, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-days', '1'],
    ...['-subj', '/CN=os2g bench authority'],
  );
  await openssl(
    ...['req', ...key, '-keyout', at('server.key'), '-out', at('server.csr'), '-subj', '/CN=127.0.0.1'],
  );
  await openssl(
    ...['x509', '-req', '-in', at('server.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key')],
    ...['-CAcreateserial', '-days', '1', '-extfile', at('extensions'), '-out', at('server.pem')],
  );
  return { caFile: at('ca.pem'), certFile: at('server.pem'), keyFile: at('server.key') };
}
