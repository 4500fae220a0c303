/** Strings and what gives a document its form; the values between them do not matter. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

interface Level {
  /** Of an object; null: a list. */
  keys: Set<string> | null;
  /** Key or index under which the level below lies. */
  at: string | number;
}

/**
 * The first key that an object of a JSON document has twice, with the keys and indexes that lead to it; null where there is none.
 * `JSON.parse` keeps the last one and says nothing.
 * @param text is JSON
 */
export function repeatedKey(text: string): string | null {
  const levels: Level[] = [];
  let string = '';
  for (const [token] of text.matchAll(TOKENS)) {
    const level = levels.at(-1);
    if (token === '{') levels.push({ keys: new Set(), at: '' });
    else if (token === '[') levels.push({ keys: null, at: 0 });
    else if (token === '}' || token === ']') levels.pop();
    else if (token === ',') {
      if (level && level.keys === null) level.at = Number(level.at) + 1;
    } else if (token === ':') {
      const key = JSON.parse(string) as string;
      level!.at = key;
      if (level!.keys!.has(key)) return levels.map(({ at }) => at).join('.');
      level!.keys!.add(key);
    } else {
      string = token;
    }
  }
  return null;
}
