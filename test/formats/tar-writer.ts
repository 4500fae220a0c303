// Archives as the tests need them, also such as no program would write.

export interface Member {
  name: string;
  data?: Uint8Array | string;
  type?: string;
  /** The size that the header is to claim; default: that of the data. */
  sizeBytes?: number;
  /** Where the name's beginning is kept. */
  prefix?: string;
  /** The size field is big-endian binary. */
  base256?: boolean;
  magic?: 'ustar' | 'gnu' | 'none';
}

export const BLOCK = 512;

export function headerBlock(member: Member): Buffer {
  const { name, data = '', type = '0', prefix = '', base256 = false, magic = 'ustar' } = member;
  const size = member.sizeBytes ?? Buffer.from(data as string).length;
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  Buffer.from(name).copy(block, 0, 0, 100);
  block.write('0000644\0', 100);
  if (base256) {
    block[124] = 0x80;
    block.writeUInt32BE(Math.floor(size / 2 ** 32), 128);
    block.writeUInt32BE(size % 2 ** 32, 132);
  } else block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  block.write(type, 156, 'latin1');
  if (magic === 'ustar') block.write('ustar\x0000', 257);
  if (magic === 'gnu') block.write('ustar  \0', 257);
  block.write(prefix, 345, 155);
  return withChecksum(block);
}

export function withChecksum(block: Buffer): Buffer {
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

export function padded(data: Uint8Array | string): Buffer {
  const bytes = Buffer.from(data as string);
  return Buffer.concat([bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)]);
}

export function memberBlocks(member: Member): Buffer {
  return Buffer.concat([headerBlock(member), padded(member.data ?? '')]);
}

/** A pax record, its length counted in. */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest);
  while (String(length).length + Buffer.byteLength(rest) !== length) {
    length = String(length).length + Buffer.byteLength(rest);
  }
  return `${length}${rest}`;
}

export const pax = (values: Record<string, string>, type = 'x'): Member => ({
  name: 'pax',
  type,
  data: Object.entries(values)
    .map(([key, value]) => paxRecord(key, value))
    .join(''),
});

export const END = Buffer.alloc(2 * BLOCK);

export function tar(members: readonly (Member | Buffer)[], end: Buffer = END): Buffer {
  return Buffer.concat([
    ...members.map((member) => (Buffer.isBuffer(member) ? member : memberBlocks(member))),
    end,
  ]);
}
