import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isIP } from 'node:net';

/** PEM texts. The certificate is its own CA, so it is also what a client must trust. */
export interface SelfSigned {
  key: string;
  cert: string;
}

// DER (X.690): a tag, a length, the content.
function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...bytes]), content]);
}

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const TRUE = Buffer.from([0x01, 0x01, 0xff]);

/** Object identifiers, encoded. */
const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
  subjectKeyId: '0603551d0e',
};
const oid = (name: keyof typeof OID): Buffer => Buffer.from(OID[name], 'hex');

function ipBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  if (address !== '::1') throw new RangeError(`self-signed: of IPv6 only ::1, not ${address}`);
  return Buffer.concat([Buffer.alloc(15), Buffer.from([1])]);
}

function utcTime(date: Date): Buffer {
  const text = `${date.toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`;
  return der(0x17, Buffer.from(text));
}

function extension(name: keyof typeof OID, critical: boolean, value: Buffer): Buffer {
  return der(SEQUENCE, oid(name), critical ? TRUE : Buffer.alloc(0), der(OCTET_STRING, value));
}

/**
 * A fresh certificate (RFC 5280, version 3, P-256) for host names and addresses, valid for a day: so that no test has a private
 * key in the repository, nor one that runs out.
 */
export function selfSigned(hosts: readonly string[] = ['localhost', '*.localhost', '127.0.0.1']): SelfSigned {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(SEQUENCE, oid('ecdsaWithSha256'));
  const commonName = der(SEQUENCE, oid('commonName'), der(0x0c, Buffer.from('scripted store')));
  const name = der(SEQUENCE, der(0x31, commonName));
  const serial = randomBytes(8);
  serial[0] = (serial[0]! & 0x7f) | 0x40; // positive, and no leading zero
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const names = hosts.map((host) => (isIP(host) ? der(0x87, ipBytes(host)) : der(0x82, Buffer.from(host))));
  const keyId = createHash('sha1').update(spki).digest();
  const extensions = der(
    SEQUENCE,
    extension('basicConstraints', true, der(SEQUENCE, TRUE)),
    extension('subjectKeyId', false, der(OCTET_STRING, keyId)),
    extension('subjectAltName', false, der(SEQUENCE, ...names)),
  );
  const dayMs = 24 * 3600 * 1000;
  const body = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))), // version 3
    der(INTEGER, serial),
    algorithm,
    name,
    der(SEQUENCE, utcTime(new Date(Date.now() - dayMs)), utcTime(new Date(Date.now() + dayMs))),
    name,
    spki,
    der(0xa3, extensions),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey));
  const base64 = der(SEQUENCE, body, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n').trimEnd()}\n-----END CERTIFICATE-----\n`,
  };
}
