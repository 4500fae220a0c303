import { join } from 'node:path';
import { output } from './command.js';

/** Paths of PEM files. */
export interface Certificate {
  certificateFile: string;
  keyFile: string;
  /** What a client must trust. */
  caFile: string;
}

/**
 * A private CA and a certificate of its own for 127.0.0.1, valid for a day: some clients take no certificate that signs itself.
 * @throws Error with the words of openssl
 */
export async function makeCertificate(folder: string): Promise<Certificate> {
  const file = (name: string): string => join(folder, name);
  const [caFile, caKey, certificateFile, keyFile] = ['ca.pem', 'ca.key', 'server.pem', 'server.key'].map(
    file,
  );
  const fresh = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '1',
  ];
  await output('openssl', [...fresh, '-subj', '/CN=os2g bench CA', '-keyout', caKey!, '-out', caFile!]);
  const server = ['-subj', '/CN=os2g bench', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const leaf = [
    '-addext',
    'basicConstraints=critical,CA:FALSE',
    '-keyout',
    keyFile!,
    '-out',
    certificateFile!,
  ];
  await output('openssl', [...fresh, '-CA', caFile!, '-CAkey', caKey!, ...server, ...leaf]);
  return { certificateFile: certificateFile!, keyFile: keyFile!, caFile: caFile! };
}
