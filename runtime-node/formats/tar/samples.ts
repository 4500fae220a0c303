import type { SampleField } from '../../manifest/manifest.js';
import type { ListedObject } from '../../s3/listing.js';
import type { SampleRow } from '../format.js';
import { badShard } from '../format-error.js';
import { isRegular, type TarMember } from './members.js';

/** A name split as webdataset's `base_plus_ext` splits it: up to the first dot of the file's name, and what is behind it. */
export function splitName(name: string): { key: string; field: string } | null {
  const found = /^((?:[^\n]*\/|)[^.]+)\.([^/]*)$/.exec(name);
  return found === null ? null : { key: found[1] as string, field: (found[2] as string).toLowerCase() };
}

/** Names that webdataset keeps for data about the shard: `__meta__`, `__data__/x`. */
export function isMetaName(name: string): boolean {
  return /^__[^/]*__(?:$|\/)/.test(name) || /^__(?:|_)$/.test(name);
}

/** Why a member is no part of a sample, in a fixed sentence; null where it is one, or nobody misses it. */
export function whyLeftOut(member: TarMember): string | null {
  if (!isRegular(member)) {
    return member.type === '5'
      ? null
      : 'members that are links, devices or pipes are left out, as webdataset does';
  }
  if (isMetaName(member.name)) return null;
  return splitName(member.name) === null
    ? 'members without an extension are left out, as webdataset does'
    : null;
}

interface OpenSample {
  key: string;
  offset: number;
  end: number;
  fields: SampleField[];
}

/**
 * Makes samples of members as webdataset does: members with one key that stand together are one sample, whatever stands between
 * them that is no part of a sample; where the key changes a new one begins, also under a key that came before.
 */
export class SampleGrouper {
  private open: OpenSample | null = null;

  constructor(private readonly object: ListedObject) {}

  /** The sample that this member ends; null where it ends none. @throws Os2gError `bad_shard` where a field comes twice */
  add(member: TarMember): SampleRow | null {
    const { name, dataOffset, sizeBytes } = member;
    const split = isRegular(member) && !isMetaName(name) ? splitName(name) : null;
    if (split === null) return null;
    const ended = this.open !== null && this.open.key !== split.key ? this.finish() : null;
    this.open ??= { key: split.key, offset: dataOffset, end: dataOffset, fields: [] };
    if (this.open.fields.some((field) => field.name === split.field)) {
      throw badShard(
        this.object,
        dataOffset,
        `the sample ${JSON.stringify(split.key)} has the field ${JSON.stringify(split.field)} twice`,
        'webdataset refuses such a shard too: write it again with distinct names',
      );
    }
    this.open.fields.push({ name: split.field, offset: dataOffset - this.open.offset, length: sizeBytes });
    this.open.end = dataOffset + sizeBytes;
    return ended;
  }

  /** The last sample; null where there is none. */
  finish(): SampleRow | null {
    const { open, object } = this;
    this.open = null;
    if (open === null) return null;
    return {
      key: object.key,
      offset: open.offset,
      length: open.end - open.offset,
      etag: object.etag,
      objectSizeBytes: object.sizeBytes,
      label: null,
      fields: open.fields,
      width: null,
      height: null,
      dtype: null,
      shape: null,
    };
  }
}
