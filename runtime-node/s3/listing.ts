import { StoreError } from '../errors.js';
import type { ListPage } from './list-page.js';
import { decodeListedKey, standsFor } from './listed-key.js';

/** An object as a listing names it. */
export interface ListedObject {
  /** Byte-exact. */
  key: string;
  sizeBytes: number;
  /** As the store gives it, quotes included; null where it gives none. */
  etag: string | null;
  storageClass: string | null;
  /** In an archive, and not restored: it cannot be read. */
  archived: boolean;
}

/** One request for a page. `encoded`: with encoding-type=url. */
export type PageRequest = (token: string | null, encoded: boolean) => Promise<ListPage>;

/** A page may be empty and still say that more follows (of many deleted keys, say); a listing that only does that never ends. */
const MOST_EMPTY_PAGES = 1000;

/**
 * All pages of a listing, in the order and with the borders that the store gives them. A page is complete or the listing
 * fails. A key that comes twice on one page or on two neighbouring ones fails the listing; further apart it is the
 * caller's to find (a manifest is sorted).
 *
 * @param plusIsSpace the store is known to write a space as a plus (AWS); else a page with a plus in a key is asked for a second
 *   time without encoding
 * @throws StoreError code `listing_broken`
 */
export async function* listPages(
  request: PageRequest,
  bucket: string,
  plusIsSpace: boolean,
): AsyncGenerator<ListedObject[]> {
  const tokens = new TokenLoop(bucket);
  let before = new Set<string>();
  let token: string | null = null;
  let empty = 0;
  for (;;) {
    const page = await request(token, true);
    const objects = readPage(page, await keysOf(page, token, request, bucket, plusIsSpace), bucket);
    const now = new Set<string>();
    for (const { key } of objects) {
      if (now.has(key) || before.has(key)) {
        throw broken(bucket, `the key ${JSON.stringify(key)} is listed twice`);
      }
      now.add(key);
    }
    before = now;
    if (objects.length > 0) yield objects;
    // A token beside it is no sign of more: some stores give one for ever.
    if (!page.isTruncated) return;
    empty = objects.length > 0 ? 0 : empty + 1;
    if (empty >= MOST_EMPTY_PAGES) {
      throw broken(
        bucket,
        `${empty} pages without a key came one after the other, each saying that more follows`,
      );
    }
    token = page.nextToken;
    if (token === null) {
      throw broken(bucket, 'a page says that more follows, and gives no token for it');
    }
    tokens.check(token);
  }
}

async function keysOf(
  page: ListPage,
  token: string | null,
  request: PageRequest,
  bucket: string,
  plusIsSpace: boolean,
): Promise<string[]> {
  const listed = page.entries.map(({ key }) => {
    if (key === '') throw broken(bucket, 'an entry has no key');
    return key;
  });
  if (!page.isUrlEncoded) return listed;
  if (plusIsSpace || !listed.some((key) => key.includes('+'))) return listed.map(decodeListedKey);
  const plain = (await request(token, false)).entries;
  return listed.map((encoded, n) => {
    if (!encoded.includes('+')) return decodeListedKey(encoded);
    const key = plain[n]?.key;
    if (key !== undefined && standsFor(encoded, key)) return key;
    throw broken(
      bucket,
      `the key ${JSON.stringify(encoded)} comes without encoding as ${JSON.stringify(key)}`,
    );
  });
}

function readPage(page: ListPage, keys: string[], bucket: string): ListedObject[] {
  const count = page.entries.length + page.commonPrefixes;
  if (page.keyCount !== null && page.keyCount !== count) {
    throw broken(bucket, `a page says that it has ${page.keyCount} keys, and has ${count}`);
  }
  return page.entries.map(({ sizeBytes, etag, storageClass, isRestored }, n) => {
    const key = keys[n] as string;
    if (sizeBytes === null) throw broken(bucket, `the key ${JSON.stringify(key)} has no size`);
    return { key, sizeBytes, etag, storageClass, archived: isArchive(storageClass) && !isRestored };
  });
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/restoring-objects.html */
export function isArchive(storageClass: string | null): boolean {
  return storageClass === 'GLACIER' || storageClass === 'DEEP_ARCHIVE';
}

/** Finds a listing that goes round in circles, in constant memory (Brent's cycle finding). */
class TokenLoop {
  private saved = '';
  private pages = 0;
  private next = 1;

  constructor(private readonly bucket: string) {}

  check(token: string): void {
    if (token === this.saved) {
      throw broken(
        this.bucket,
        `the listing came to the same token a second time, after ${this.pages} pages`,
      );
    }
    if (++this.pages !== this.next) return;
    this.saved = token;
    this.next *= 2;
  }
}

function broken(bucket: string, what: string): StoreError {
  return new StoreError(
    'listing_broken',
    `the listing of s3://${bucket} cannot be trusted: ${what}`,
    'the store does not keep to the ListObjectsV2 protocol: try again, and report it to its makers',
    { bucket },
  );
}
