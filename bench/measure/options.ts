/**
 * A whole number from the command line, at least 1.
 * @throws RangeError that names the option
 */
export function countOf(option: string, text: string): number {
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= 1) return value;
  throw new RangeError(`--${option}: ${JSON.stringify(text)} is not a whole number from 1 on`);
}

/**
 * Some of a list of names, separated by commas.
 * @throws RangeError that names the option
 */
export function namesOf<T extends string>(option: string, text: string, known: readonly T[]): T[] {
  return text.split(',').map((name) => {
    const found = known.find((each) => each === name);
    if (found !== undefined) return found;
    throw new RangeError(`--${option}: ${JSON.stringify(name)} is none of ${known.join(', ')}`);
  });
}
