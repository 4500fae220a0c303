import type { ListedObject } from '../../s3/listing.js';
import type { RangeReader } from '../format.js';
import { badShard, unsupportedData } from '../format-error.js';
import { checkEnd } from './end.js';
import { BLOCK_BYTES, isZeroBlock, readHeader, type TarHeader, textUntilNul } from './header.js';
import { type PaxValues, readPax } from './pax.js';
import { ReadWindow } from './read-window.js';

/** A member of an archive: a file, or something that holds no data of its own. */
export interface TarMember {
  name: string;
  type: string;
  /** Where its data begins in the archive, in bytes. */
  dataOffset: number;
  sizeBytes: number;
}

/** Members with data, as Python's tarfile has it: files, and types that nobody knows. */
const WITHOUT_DATA = new Set(['1', '2', '3', '4', '5', '6']);
const REGULAR = new Set(['0', '7']);
/** An extended header beyond this is no honest one. */
const MOST_EXTENDED_BYTES = 1024 * 1024;
const MEND_CUT = 'it was cut off, or is no tar archive: write or upload it again';
const MEND_DAMAGED = 'it is damaged, or no tar archive: write or upload it again';

export const isRegular = ({ type }: Pick<TarMember, 'type'>): boolean => REGULAR.has(type);

/**
 * The members of an archive in its order, from the headers: data is not read where it is longer than what is read ahead.
 * @throws StoreError; Os2gError `bad_shard`, `unsupported_data`
 */
export class MemberReader {
  private readonly window: ReadWindow;
  private position = 0;
  private global: PaxValues = {};

  constructor(
    private readonly object: ListedObject,
    reader: RangeReader,
    signal?: AbortSignal,
  ) {
    this.window = new ReadWindow(object, reader, signal);
  }

  /** The next member; null behind the last one, where the archive ends as it must. */
  async next(): Promise<TarMember | null> {
    let pax: PaxValues = {};
    let longName: string | null = null;
    let isExtended = false;
    for (;;) {
      const at = this.position;
      const header = await this.header(isExtended);
      if (header === null) return null;
      this.position = at + BLOCK_BYTES;
      if (header.type === 'x' || header.type === 'X') pax = { ...pax, ...(await this.pax(header)) };
      else if (header.type === 'g') this.global = { ...this.global, ...(await this.pax(header)) };
      else if (header.type === 'L') longName = textUntilNul(await this.extended(header));
      else if (header.type === 'K') await this.extended(header);
      else return this.member(header, longName, { ...this.global, ...pax });
      isExtended = true;
    }
  }

  private async header(isExtended: boolean): Promise<TarHeader | null> {
    const { object, position } = this;
    const block = await this.window.at(position, BLOCK_BYTES);
    if (block.length < BLOCK_BYTES) {
      const what =
        block.length === 0
          ? 'the archive ends without the zero blocks that mark its end'
          : 'a header is cut off';
      throw badShard(object, position, what, MEND_CUT);
    }
    if (isZeroBlock(block)) {
      if (isExtended)
        throw badShard(object, position, 'the archive ends behind an extended header', MEND_CUT);
      await checkEnd(object, position, (from, length) => this.window.at(from, length));
      return null;
    }
    const header = readHeader(block);
    if (!('problem' in header)) return header;
    if (position === 0 && block[0] === 0x1f && block[1] === 0x8b) {
      throw unsupportedData(object.key, 'it is compressed with gzip', MEND_COMPRESSED);
    }
    throw badShard(object, position, header.problem, MEND_DAMAGED);
  }

  private member(header: TarHeader, longName: string | null, pax: PaxValues): TarMember {
    const { object, position } = this;
    const { type } = header;
    const name = pax.path ?? longName ?? header.name;
    if (type === 'S' || pax.sparse === true) {
      const what = `${JSON.stringify(name)} is stored with holes (sparse)`;
      throw unsupportedData(object.key, what, 'write the archive again without --sparse');
    }
    if (type === 'M') {
      const what = `${JSON.stringify(name)} began in another archive (multi-volume)`;
      throw unsupportedData(object.key, what, 'write one archive for each shard');
    }
    const sizeBytes = WITHOUT_DATA.has(type) ? 0 : (pax.sizeBytes ?? header.sizeBytes);
    const end = position + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    if (!(end <= object.sizeBytes)) {
      throw badShard(
        object,
        position,
        `the data of ${JSON.stringify(name)}, ${sizeBytes} bytes long, ends beyond the archive's ${object.sizeBytes} bytes`,
        MEND_CUT,
      );
    }
    this.position = end;
    return { name, type, dataOffset: position, sizeBytes };
  }

  private async pax(header: TarHeader): Promise<PaxValues> {
    const at = this.position;
    const values = readPax(await this.extended(header));
    if (values === null) throw badShard(this.object, at, 'an extended header there is damaged', MEND_DAMAGED);
    return values;
  }

  /** The data of an extended header; it is copied, as more is read while it is used. */
  private async extended({ sizeBytes, type }: TarHeader): Promise<Uint8Array> {
    const { object, position } = this;
    if (sizeBytes > MOST_EXTENDED_BYTES || position + sizeBytes > object.sizeBytes) {
      const what = `an extended header of type ${JSON.stringify(type)} has ${sizeBytes} bytes`;
      throw badShard(object, position, what, MEND_DAMAGED);
    }
    const bytes = await this.window.at(position, sizeBytes);
    this.position = position + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    return bytes.slice();
  }
}

export const MEND_COMPRESSED = 'ranges of compressed archives cannot be read: store the shards as plain .tar';
