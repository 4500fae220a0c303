import { option, type Text, words } from '../wording.js';

/** What to do where a port answers, and not in HTTP. */
export const NOT_HTTP_MEND: Text = words`check host and port of ${option('s3.endpoint')}, and whether it is to begin with https:// instead of http://`;
/** What to do where a port of plain http closed every connection without an answer. */
export const CLOSED_MEND: Text = words`check host and port of ${option('s3.endpoint')}: a port that closes without an answer is often one of https; then begin it with https:// instead of http://`;

export const CA_MEND: Text = words`if the store's certificate is signed by a private CA, give its bundle with ${option('s3.caBundle')} or AWS_CA_BUNDLE`;
const CLIENT_MEND = words`give a certificate of the CA that the store trusts with ${option('s3.clientCert')}, and its key with ${option('s3.clientKey')}`;
const ENDPOINT_MEND = words`check host and port of ${option('s3.endpoint')}, and what stands between here and the store`;
const SPEAKS_HTTP = 'this port speaks http, not https';
const SPEAKS_HTTP_MEND = words`begin ${option('s3.endpoint')} with http://, or give the port of https`;

/** Why TLS with a store failed, in one line, and the mend. */
export interface TlsFailure {
  readonly what: string;
  readonly mend: Text;
}

/**
 * From the code and the message of a socket's error. OpenSSL's own errors come as EPROTO with a line of its source in the
 * message: `write EPROTO 00A8C5:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../ssl3_record.c:354:`.
 */
export function tlsFailure(code: string, message: string): TlsFailure {
  const reason = /SSL routines:[^:]*:([^:\n]+)/.exec(message)?.[1]?.trim();
  if (reason === undefined) {
    const isOfCertificate = !/^(?:ERR_|EPROTO)/.test(code) || code === 'ERR_TLS_CERT_ALTNAME_INVALID';
    const said = message.includes(code) || code === '' ? message : `${message} (${code})`;
    return { what: said, mend: isOfCertificate ? CA_MEND : ENDPOINT_MEND };
  }
  if (/alert certificate required|alert handshake failure/.test(reason)) {
    return { what: `the store asks for a certificate of its client (${reason})`, mend: CLIENT_MEND };
  }
  if (/alert (?:bad certificate|unknown ca|certificate (?:expired|revoked|unknown))/.test(reason)) {
    return { what: `the store does not take the client's certificate (${reason})`, mend: CLIENT_MEND };
  }
  // The first bytes of a plain answer, taken for a TLS record.
  if (/wrong version number|packet length too long|http request/.test(reason)) {
    return { what: SPEAKS_HTTP, mend: SPEAKS_HTTP_MEND };
  }
  return { what: `${reason} (${code})`, mend: ENDPOINT_MEND };
}

/** What to do about a failure of TLS that the native engine tells in its own words. */
export function nativeTlsMend(what: string): Text {
  if (what.endsWith(SPEAKS_HTTP)) return SPEAKS_HTTP_MEND;
  if (/certificate/.test(what)) return CA_MEND;
  if (/alert: (?:CertificateRequired|HandshakeFailure)/.test(what)) return CLIENT_MEND;
  return ENDPOINT_MEND;
}
