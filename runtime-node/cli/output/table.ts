import { printable } from './printable.js';

/** Columns of text, the first to the left and the others to the right, or all to the left. */
export function table(given: readonly (readonly string[])[], align: 'figures' | 'text' = 'figures'): string {
  const rows = given.map((row) => row.map(printable));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(...rows.map((row) => row[i]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, i) =>
          i === 0 || align === 'text' ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `name  value` lines. */
export function facts(rows: readonly (readonly [string, string])[]): string {
  return table(rows, 'text');
}

/** A Markdown table in the layout that the formatter gives it: columns padded, `|` in cells escaped. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const columns = escaped[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, i) =>
    Math.max(3, ...escaped.map((row) => row[i]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = escaped;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}
