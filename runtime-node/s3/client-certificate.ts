import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { ConfigError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { readable } from '../input-file.js';
import { option, type Text, words } from '../wording.js';

/** What a store is shown that asks its clients for a certificate (mutual TLS). Never logged, never part of an error. */
export interface ClientCertificate {
  /** The certificate, and those between it and its CA. */
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * @param certFile PEM certificates, the client's own first; null: none is shown
 * @param keyFile PEM private key without a passphrase; null: it stands in `certFile`
 * @throws ConfigError `bad_client_certificate`
 */
export async function readClientCertificate(
  certFile: string | null,
  keyFile: string | null,
): Promise<ClientCertificate | null> {
  if (certFile === null) {
    if (keyFile === null) return null;
    throw refusal(
      's3.clientKey',
      keyFile,
      'a key without its certificate',
      words`give ${option('s3.clientCert')}, too`,
    );
  }
  const certPem = await read('s3.clientCert', certFile);
  if (!/-----BEGIN CERTIFICATE-----/.test(certPem)) {
    throw refusal('s3.clientCert', certFile, 'the file holds no PEM certificate', GIVE_PEM);
  }
  const keyName = keyFile === null ? 's3.clientCert' : 's3.clientKey';
  const keyPem = keyFile === null ? certPem : await read(keyName, keyFile);
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(keyPem)) {
    const mend = 'give a key without a passphrase (openssl pkey -in KEY -out PLAIN), readable by you only';
    throw refusal(keyName, keyFile ?? certFile, 'the private key is encrypted', mend);
  }
  if (!/-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/.test(keyPem)) {
    throw refusal(
      keyName,
      keyFile ?? certFile,
      'the file holds no PEM private key',
      words`give its file with ${option('s3.clientKey')}`,
    );
  }
  try {
    createSecureContext({ cert: certPem, key: keyPem });
  } catch (cause) {
    const reason =
      cause instanceof Error ? (/:([^:]+)$/.exec(cause.message)?.[1] ?? cause.message) : String(cause);
    throw refusal(
      's3.clientCert',
      certFile,
      `certificate and key cannot be used together: ${reason}`,
      GIVE_PEM,
      cause,
    );
  }
  return { certPem, keyPem };
}

const GIVE_PEM = words`give a PEM certificate with ${option('s3.clientCert')} and the private key that belongs to it with ${option('s3.clientKey')}`;

async function read(name: string, file: string): Promise<string> {
  try {
    return await readFile(readable(file), 'latin1');
  } catch (cause) {
    throw refusal(name, file, `it cannot be read: ${fileProblem(cause)}`, 'check the path', cause);
  }
}

function refusal(name: string, file: string, what: string, mend: Text, cause?: unknown): ConfigError {
  return new ConfigError(
    'bad_client_certificate',
    words`${option(name)}: ${JSON.stringify(file)}: ${what}`,
    mend,
    {
      option: name,
      file,
      cause,
    },
  );
}
