/** Aligned columns for a terminal. */

/** Control characters are replaced, so that text of others cannot move the cursor. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return String(value).replace(/\p{Cc}/gu, '\ufffd');
}

export function table(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [heads.map((head) => head.toUpperCase()), ...rows.map((row) => row.map(cell))];
  const widths = heads.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  return lines
    .map((line) =>
      line
        .map((text, column) => text.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** One record, one line for each field. */
export function fields(pairs: readonly (readonly [name: string, value: unknown])[]): string {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`).join('\n');
}
