/** Text that is HTML already. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[];

/** A template whose values are escaped, unless they are HTML already. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  let out = texts[0]!;
  parts.forEach((part, i) => {
    out += textOf(part) + texts[i + 1]!;
  });
  return new Html(out);
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return part.map(({ text }) => text).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => ENTITIES[letter]!);
}

/** A table: the first row is its head, the first cell of each row names the row. */
export function tableOf(caption: string, rows: readonly (readonly (string | Html)[])[]): Html {
  const [head = [], ...body] = rows;
  return html`<div class="scroll"><table><caption>${caption}</caption>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${body.map(([name = '', ...cells]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody></table></div>`;
}

/** A table that is folded away on the screen and open on paper. */
export function foldedTable(caption: string, rows: readonly (readonly (string | Html)[])[]): Html {
  return html`<details><summary>Numbers: ${caption}</summary>${tableOf(caption, rows)}</details>`;
}

/** A script's text for a place inside <script>: it must not end the element. */
export function scriptText(text: string): Html {
  return new Html(text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--'));
}

/** JSON for a place inside <script type="application/json">. */
export function scriptJson(value: unknown): Html {
  return new Html(JSON.stringify(value).replaceAll('<', '\\u003c'));
}
