/** A value of Python's source, as far as NumPy's headers have them: text, whole numbers, booleans, None, tuples, lists, dictionaries. */
export type Literal =
  | string
  | number
  | boolean
  | null
  | readonly Literal[]
  | { readonly [name: string]: Literal };

/** What a Python literal was expected to be, and is not, with the character where. */
export class LiteralError extends Error {
  constructor(
    readonly at: number,
    what: string,
  ) {
    super(what);
  }
}

/** Headers that NumPy writes have a depth of 2, those of structured types a few more. */
const DEEPEST = 16;

/** Reads one literal, with nothing but blanks after it. Whole numbers are exact, or refused. @throws LiteralError */
export function parseLiteral(text: string): Literal {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.end();
  return value;
}

class Parser {
  private at = 0;

  constructor(private readonly text: string) {}

  value(depth: number): Literal {
    if (depth > DEEPEST) throw this.problem('is nested too deeply');
    this.blanks();
    switch (this.text[this.at]) {
      case '{':
        return this.dictionary(depth);
      case '(':
        return this.sequence('(', ')', depth);
      case '[':
        return this.sequence('[', ']', depth);
      case "'":
      case '"':
        return this.quoted();
      default:
        return this.word();
    }
  }

  end(): void {
    this.blanks();
    if (this.at < this.text.length) throw this.problem('goes on after its end');
  }

  private dictionary(depth: number): Literal {
    const entries = new Map<string, Literal>();
    this.take('{');
    while (!this.closes('}')) {
      const name = this.quoted();
      if (entries.has(name)) throw this.problem(`has ${JSON.stringify(name)} twice`);
      this.take(':');
      entries.set(name, this.value(depth + 1));
      if (!this.comma()) {
        this.take('}');
        break;
      }
    }
    return Object.fromEntries(entries);
  }

  /** A value in round brackets without a comma is that value, not a tuple, as in Python. */
  private sequence(open: '(' | '[', close: ')' | ']', depth: number): Literal {
    const values: Literal[] = [];
    this.take(open);
    let commas = 0;
    while (!this.closes(close)) {
      values.push(this.value(depth + 1));
      if (!this.comma()) {
        this.take(close);
        break;
      }
      commas++;
    }
    return open === '(' && values.length === 1 && commas === 0 ? values[0]! : values;
  }

  private quoted(): string {
    this.blanks();
    const quote = this.text[this.at];
    if (quote !== "'" && quote !== '"') throw this.problem('has no text where one belongs');
    const end = this.text.indexOf(quote, this.at + 1);
    if (end < 0) throw this.problem('has a text without an end');
    const text = this.text.slice(this.at + 1, end);
    if (text.includes('\\')) throw this.problem('has an escape in a text');
    this.at = end + 1;
    return text;
  }

  private word(): Literal {
    const [word = ''] = /^[A-Za-z0-9_+-]*/.exec(this.text.slice(this.at, this.at + 32)) ?? [];
    if (word === 'True' || word === 'False' || word === 'None') {
      this.at += word.length;
      return word === 'None' ? null : word === 'True';
    }
    // NumPy on Python 2 wrote whole numbers with an L.
    const number = /^(-?(?:0|[1-9][0-9]*))L?$/.exec(word);
    if (number === null) throw this.problem('has something that is no value');
    const value = Number(number[1]);
    if (!Number.isSafeInteger(value)) throw this.problem(`has the number ${number[1]}, beyond 2^53`);
    this.at += word.length;
    return value;
  }

  private closes(close: string): boolean {
    this.blanks();
    if (this.text[this.at] !== close) return false;
    this.at++;
    return true;
  }

  private comma(): boolean {
    this.blanks();
    if (this.text[this.at] !== ',') return false;
    this.at++;
    return true;
  }

  private take(what: string): void {
    this.blanks();
    if (this.text[this.at] !== what) throw this.problem(`has no ${what} where one belongs`);
    this.at++;
  }

  private blanks(): void {
    while (this.at < this.text.length && ' \n\t\r'.includes(this.text[this.at]!)) this.at++;
  }

  private problem(what: string): LiteralError {
    return new LiteralError(this.at, what);
  }
}
