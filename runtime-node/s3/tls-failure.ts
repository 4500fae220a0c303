import { option, type Text, words } from '../wording.js';

/** What to do where a port answers, and not in HTTP. */
export const NOT_HTTP_MEND: Text = words`check host and port of ${option('s3.endpoint')}, and whether it is to begin with https:// instead of http://`;

const CA_MEND = words`if the store's certificate is signed by a private CA, give its bundle with ${option('s3.caBundle')} or AWS_CA_BUNDLE`;
const CLIENT_MEND = words`give a certificate of the CA that the store trusts with ${option('s3.clientCert')}, and its key with ${option('s3.clientKey')}`;
const ENDPOINT_MEND = words`check host and port of ${option('s3.endpoint')}, and what stands between here and the store`;

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
    return {
      what: 'this port speaks http, not https',
      mend: words`begin ${option('s3.endpoint')} with http://, or give the port of https`,
    };
  }
  return { what: `${reason} (${code})`, mend: ENDPOINT_MEND };
}
