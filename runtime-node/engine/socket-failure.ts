import { isTlsCode } from '../s3/error-codes.js';
import { tlsFailure } from '../s3/tls-failure.js';
import type { Text } from '../wording.js';
import type { FailureName } from './failure.js';

/** How far an exchange had come when its connection failed. */
export interface ExchangeProgress {
  /** The request was written. */
  sent: boolean;
  /** A byte of the answer came. */
  answered: boolean;
  /** The connection had served another answer before. */
  reused: boolean;
}

export interface SocketFailure {
  name: FailureName;
  what: string;
  /** What to do, where it is not what the class's failures ask for in general. */
  mend?: Text;
}

/** The answer ended before its framing said so: the connection was cut, the peer did not talk nonsense. */
const CUT = new Set(['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_EOF_STATE']);

/** Puts an error of a connection in its class. */
export function socketFailure(error: Error, progress: ExchangeProgress): SocketFailure {
  const code = codeOf(error);
  const what = code === '' || error.message.includes(code) ? error.message : `${error.message} (${code})`;
  if (isTlsCode(code)) {
    const { what, mend } = tlsFailure(code, error.message);
    return { name: 'tls', what: `TLS failed: ${what}`, mend };
  }
  if (!progress.sent) return { name: 'connect', what: `no connection: ${what || 'all addresses failed'}` };
  if (CUT.has(code) || (isParserError(error) && /EOF/.test(error.message)))
    return { name: 'reset', what: `the connection was cut: ${what}` };
  if (isParserError(error) || code === 'UND_ERR_HEADERS_OVERFLOW' || error.message.startsWith('bad ')) {
    return { name: 'protocol', what: `not an HTTP answer: ${what}` };
  }
  if (!progress.answered && progress.reused) {
    return { name: 'stale', what: `a kept-alive connection was closed before it answered: ${what}` };
  }
  return { name: 'reset', what: `the connection was cut: ${what}` };
}

// undici leaves out the code of some parser errors.
function isParserError(error: Error): boolean {
  return error.name === 'HTTPParserError';
}

function codeOf(error: Error): string {
  if ('code' in error && typeof error.code === 'string') return error.code;
  const first: unknown = error instanceof AggregateError ? error.errors[0] : undefined;
  return first instanceof Error ? codeOf(first) : '';
}
