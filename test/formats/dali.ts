import { BLOCK, type Member, padded } from './tar-writer.js';

/** The index that DALI's `wds2idx` writes for these members, none of them hidden: one line for each basename that stands together. */
export function daliIndex(members: readonly Member[]): string {
  const lines: string[] = [];
  let before: string | null = null;
  let position = 0;
  for (const { name, data = '' } of members) {
    const dot = name.indexOf('.', name.lastIndexOf('/') + 1);
    const size = Buffer.from(data as string).length;
    const words = `${name.slice(dot + 1)} ${position + BLOCK} ${size} ${name}`;
    const key = name.slice(0, dot);
    if (key === before) lines.push(`${lines.pop()} ${words}`);
    else lines.push(words);
    before = key;
    position += BLOCK + padded(data).length;
  }
  return `v1.2 ${lines.length}\n${lines.map((line) => `${line}\n`).join('')}`;
}
