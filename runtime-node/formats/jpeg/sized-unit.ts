import type { SampleField } from '../../manifest/manifest.js';
import type { IndexUnit, RangeReader, SampleRow } from '../format.js';
import { readImageSize } from './image-size.js';

/** Pictures of one piece of work that are looked into at a time. */
const AT_A_TIME = 16;

/** Counted for each sample in which no picture is found. */
export const NO_PICTURE = 'no size of a picture could be read; width and height are null';

/**
 * A piece of work whose rows have the width and height of their pictures, for one request or more a sample. The picture is the field
 * that is named as one (`jpg`, `jpeg`, `png`, also as an ending), else the largest field; of a sample without fields, all of it. Sizes
 * that a row has already are kept. Where there is no picture to be read, both are null, and it is noted.
 */
export function sizedUnit(unit: IndexUnit): IndexUnit {
  return {
    ...unit,
    async *rows(reader, signal, note) {
      for await (const rows of unit.rows(reader, signal, note)) {
        for (let i = 0; i < rows.length; i += AT_A_TIME) {
          const some = rows.slice(i, i + AT_A_TIME);
          const found = await Promise.all(some.map((row) => sized(row, reader, signal)));
          for (const { key, width } of found) if (width === null) note?.(NO_PICTURE, key);
          yield found;
        }
      }
    },
  };
}

async function sized(row: SampleRow, reader: RangeReader, signal?: AbortSignal): Promise<SampleRow> {
  if (row.width !== null && row.height !== null) return row;
  const { key, objectSizeBytes: sizeBytes, etag } = row;
  const object = { key, sizeBytes, etag, storageClass: null, archived: false };
  const { offset, length } = pictureIn(row);
  const size = await readImageSize(reader, object, row.offset + offset, length, signal);
  return { ...row, width: size?.width ?? null, height: size?.height ?? null };
}

function pictureIn({ fields, length }: SampleRow): Pick<SampleField, 'offset' | 'length'> {
  const [first, ...others] = fields ?? [];
  if (first === undefined) return { offset: 0, length };
  const named = fields!.find(({ name }) => /(?:^|\.)(?:jpe?g|png)$/i.test(name));
  return named ?? others.reduce((largest, field) => (field.length > largest.length ? field : largest), first);
}
