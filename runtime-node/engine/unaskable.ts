import type { FailureName } from './failure.js';
import { mayBeFolded } from './object-path.js';

/** A GET as the core asked for it, beside what the manifest says. */
export interface Wanted {
  key: string;
  offset: number;
  length: number;
  objectSize: number;
  targetBytes: number;
  /** An ETag will prove whose bytes came. */
  proven: boolean;
  /** The key has an encoded path. */
  encodable: boolean;
}

/** Why a GET is not even sent; null where nothing stands against it. */
export function whyUnaskable(wanted: Wanted): { name: FailureName; what: string } | null {
  const { key, offset, length, objectSize, targetBytes } = wanted;
  if (!wanted.encodable) {
    return { name: 'refused', what: 'the key cannot be addressed: it is empty or not well-formed Unicode' };
  }
  if (mayBeFolded(key) && !wanted.proven) {
    return {
      name: 'refused',
      what:
        'the key cannot be addressed safely: stores and proxies may fold its "//", "." or ".." into another key, ' +
        'and without an ETag nothing would tell; index again and read with ETags verified',
    };
  }
  if (!(length >= 1 && offset >= 0 && offset + length <= objectSize && targetBytes === length)) {
    return {
      name: 'internal',
      what: `a range that cannot be: offset ${offset}, length ${length}, target ${targetBytes}, object ${objectSize} bytes`,
    };
  }
  return null;
}
