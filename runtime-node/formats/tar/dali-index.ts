import { BLOCK_BYTES } from './header.js';
import type { TarMember } from './members.js';

/** Members by sample, as an index lists them. */
export type IndexedSamples = TarMember[][];

const HEAD = /^v1\.2 (\d{1,15})$/;
const WHOLE = /^\d{1,16}$/;

/**
 * Reads what `wds2idx` of NVIDIA DALI writes: `v1.2 SAMPLES`, then one line a sample with `EXTENSION OFFSET SIZE NAME` for each of its
 * members. It is taken only where it accounts for every byte of the archive but its end: one header of 512 bytes before each
 * member's data. (With extended headers between members, or names that GNU tar's listing cuts or misplaces, it does not.)
 * @returns the reason as text where it cannot be used
 */
export function readDaliIndex(text: string): IndexedSamples | string {
  const lines = text.split('\n');
  if (lines.pop() !== '') return 'its last line is cut off';
  const count = HEAD.exec(lines[0] ?? '')?.[1];
  if (count === undefined) return 'it is no index of version v1.2';
  if (lines.length - 1 !== Number(count)) return `it says ${count} samples and lists ${lines.length - 1}`;
  const samples: IndexedSamples = [];
  let position = 0;
  for (const line of lines.slice(1)) {
    const words = line.split(' ');
    if (words.length % 4 !== 0) return 'a line does not have four words for each member';
    const sample: TarMember[] = [];
    for (let i = 0; i < words.length; i += 4) {
      const [extension, offset, size, name] = words.slice(i, i + 4) as [string, string, string, string];
      if (!WHOLE.test(offset) || !WHOLE.test(size)) return `${JSON.stringify(name)} has no place`;
      if (extensionOf(name) !== extension) return `${JSON.stringify(name)} has another extension`;
      const member = { name, type: '0', dataOffset: Number(offset), sizeBytes: Number(size) };
      if (member.dataOffset !== position + BLOCK_BYTES) {
        return `something stands before ${JSON.stringify(name)} that it does not list`;
      }
      position = endOf(member);
      sample.push(member);
    }
    samples.push(sample);
  }
  return samples;
}

/** Behind the first dot of the file's name, as `wds2idx` splits it. */
function extensionOf(name: string): string {
  return name.slice(name.indexOf('.', name.lastIndexOf('/') + 1) + 1);
}

/** Where the blocks of a member end. */
export function endOf({ dataOffset, sizeBytes }: TarMember): number {
  return dataOffset + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
}
