import { distance } from './policy/resolve.js';
import { usualName } from './usual-names.js';

/** The words that a mistyped one may have meant, nearest first; at most three. */
export function nearest(word: string, words: readonly string[]): string[] {
  const limit = Math.max(2, Math.floor(word.length / 3));
  return words
    .map((candidate) => ({ candidate, far: distance(candidate, word) }))
    .filter(({ candidate, far }) => far <= limit || (word.length > 2 && candidate.includes(word)))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** `did you mean a or b?`: what the field calls so, or what is near; or the given words where nothing is. */
export function didYouMean(word: string, words: readonly string[], otherwise: string): string {
  const usual = usualName(word, words);
  if (usual !== undefined) return usual;
  const near = nearest(word, words);
  return near.length > 0 ? `did you mean ${near.join(' or ')}?` : otherwise;
}
