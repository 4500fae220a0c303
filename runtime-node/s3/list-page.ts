import { SaxesParser } from 'saxes';

/** One object, as the document of a listing says it: nothing is decoded yet. */
export interface PageEntry {
  /** Empty where there is none. */
  key: string;
  /** Null where there is none, or no whole number. */
  sizeBytes: number | null;
  /** As the store gives it, quotes included; null where it gives none. */
  etag: string | null;
  storageClass: string | null;
  isRestored: boolean;
}

export interface ListPage {
  entries: PageEntry[];
  commonPrefixes: number;
  /** What the page says of its own length; null where it does not. */
  keyCount: number | null;
  isTruncated: boolean;
  nextToken: string | null;
  /** Keys are URL-encoded. */
  isUrlEncoded: boolean;
}

type Texts = Map<string, string>;

const ROOT = 'ListBucketResult';
const ENTRY = 'Contents';
/** What XML 1.1 takes as a character reference only, or for the end of a line: a key may hold it. */
const ONLY_AS_REFERENCE = /[\x7f-\x9f\u2028]/g;

/**
 * Reads the answer to ListObjectsV2 as XML says, to the letter: what is not well-formed, not UTF-8, or holds a field twice, is not
 * taken. The SDK's own reading is lenient, and so loses or changes keys in silence: it drops unknown entities, halves characters
 * above U+FFFF that come as references, and ignores what it does not know.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html#API_ListObjectsV2_ResponseSyntax
 *
 * @throws Error that says what is wrong with the document
 */
export function parseListPage(body: Uint8Array): ListPage {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  const reader = new PageReader();
  // By version 1.1 references to control characters may stand in a key, as stores send them; version 1.0 has no way to write them.
  const parser = new SaxesParser({ position: false, defaultXMLVersion: '1.1', forceXMLVersion: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('xmldecl', ({ encoding = 'utf-8' }) => {
    if (!/^(utf-8|us-ascii)$/i.test(encoding)) throw new Error(`it is written in ${encoding}`);
  });
  parser.on('opentag', ({ name }) => reader.open(name));
  parser.on('text', (part) => reader.text(part));
  parser.on('cdata', (part) => reader.text(part));
  parser.on('closetag', () => reader.close());
  parser
    .write(
      text.replace(
        ONLY_AS_REFERENCE,
        (character) => `&#x${(character.codePointAt(0) as number).toString(16)};`,
      ),
    )
    .close();
  return reader.page();
}

/** Follows the elements: fields of the page, fields of an entry, and those of its RestoreStatus. */
class PageReader {
  private readonly path: string[] = [];
  private readonly fields: Texts = new Map();
  private readonly entries: PageEntry[] = [];
  private commonPrefixes = 0;
  private entry: Texts = new Map();
  private characters = '';
  private hasChild = false;

  open(name: string): void {
    if (this.path.length === 0 && name !== ROOT) throw new Error(`its root is ${name}`);
    this.path.push(name);
    if (this.path.length === 2 && name === ENTRY) this.entry = new Map();
    this.characters = '';
    this.hasChild = false;
  }

  text(part: string): void {
    this.characters += part;
  }

  close(): void {
    const { path } = this;
    const name = path.pop() as string;
    if (path.length === 1) this.closeField(name);
    else if (path[1] === ENTRY && path.length < 4) this.keep(this.entry, [...path.slice(2), name].join('.'));
    this.characters = '';
    this.hasChild = true;
  }

  private closeField(name: string): void {
    if (name === ENTRY) this.entries.push(entryOf(this.entry));
    else if (name === 'CommonPrefixes') this.commonPrefixes++;
    else this.keep(this.fields, name);
  }

  /** ChecksumAlgorithm is a list: it may come several times. */
  private keep(texts: Texts, name: string): void {
    if (this.hasChild) {
      if (READ.has(name)) throw new Error(`its ${name} holds elements`);
      return;
    }
    if (READ.has(name) && texts.has(name)) throw new Error(`it has ${name} twice`);
    texts.set(name, this.characters);
  }

  page(): ListPage {
    const { fields } = this;
    const isTruncated = fields.get('IsTruncated')?.trim();
    if (isTruncated !== 'true' && isTruncated !== 'false')
      throw new Error('it does not say whether it is the last');
    return {
      entries: this.entries,
      commonPrefixes: this.commonPrefixes,
      keyCount: wholeNumber(fields, 'KeyCount'),
      isTruncated: isTruncated === 'true',
      nextToken: fields.get('NextContinuationToken') || null,
      isUrlEncoded: fields.get('EncodingType')?.trim() === 'url',
    };
  }
}

/** Fields that are read, and so must be plain and stand once. */
const READ = new Set([
  'IsTruncated',
  'KeyCount',
  'NextContinuationToken',
  'EncodingType',
  'Key',
  'Size',
  'ETag',
  'StorageClass',
  'RestoreStatus.IsRestoreInProgress',
  'RestoreStatus.RestoreExpiryDate',
]);

function entryOf(texts: Texts): PageEntry {
  const expiry = texts.get('RestoreStatus.RestoreExpiryDate');
  return {
    key: texts.get('Key') ?? '',
    sizeBytes: wholeNumber(texts, 'Size'),
    etag: texts.get('ETag') || null,
    storageClass: texts.get('StorageClass') || null,
    isRestored: Boolean(expiry) && texts.get('RestoreStatus.IsRestoreInProgress')?.trim() !== 'true',
  };
}

/** Null where it is missing, or none. */
function wholeNumber(texts: Texts, name: string): number | null {
  const text = texts.get(name)?.trim() ?? '';
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}
