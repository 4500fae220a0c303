import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { ConfigError } from '../errors.js';
import { fileProblem } from '../file-problem.js';
import { readable } from '../input-file.js';
import { option, words } from '../wording.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * The certificates to trust when a bundle is given: the built-in ones and the bundle's, since credentials may come from
 * another host than the store.
 *
 * @param file the bundle; null: none
 * @param where the option or the variable that names it
 * @returns PEM; null where there is no bundle
 * @throws ConfigError where the file cannot be read or holds no certificate
 */
export async function readCaBundle(file: string | null, where: string): Promise<string | null> {
  if (file === null) return null;
  const refuse = (what: string, cause?: unknown): ConfigError =>
    new ConfigError(
      'bad_ca_bundle',
      words`${where === 's3.caBundle' ? option(where) : where}: ${what}`,
      'give a file of PEM certificates (-----BEGIN CERTIFICATE-----); verification cannot be switched off',
      { option: where, file, cause },
    );
  let text: string;
  try {
    text = await readFile(readable(file), 'latin1');
  } catch (cause) {
    throw refuse(`cannot read ${JSON.stringify(file)}: ${fileProblem(cause)}`, cause);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse(`${JSON.stringify(file)} holds no PEM certificate`);
  for (const [n, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw refuse(`certificate ${n + 1} of ${JSON.stringify(file)} cannot be read`, cause);
    }
  }
  return [...rootCertificates, ...certificates].join('\n');
}
