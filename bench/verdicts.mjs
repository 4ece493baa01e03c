/** Judges figures against `must` and `aim`, and prints them as aligned text and as markdown. */

export function verdictOf({ must, aim, atLeast = false }, value) {
  if (!Number.isFinite(value)) return 'not measured';
  const reaches = (bound) => bound !== undefined && (atLeast ? value >= bound : value <= bound);
  if (reaches(aim)) return 'met, aim too';
  return reaches(must) ? 'met' : 'MISSED';
}

/** Three digits that matter, never more than two after the point. */
export function figureText(value) {
  if (!Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function boundText({ atLeast }, bound) {
  return bound === undefined ? '' : `${atLeast ? '≥' : '≤'} ${bound}`;
}

function withUnit(text, unit) {
  return unit === '×' ? `${text} ×` : `${text} ${unit}`;
}

/** One line of cells a row; `result` is undefined before it was measured. */
export function rowCells(row, result) {
  const bounds = [boundText(row, row.must), boundText(row, row.aim)];
  if (!result) return [row.what, 'not measured yet', '', ...bounds, ''];
  if (result.leftOut) return [row.what, `left out: ${result.leftOut}`, '', ...bounds, ''];
  return [
    row.what,
    withUnit(figureText(result.value), row.unit),
    `${figureText(result.low)} – ${figureText(result.high)}`,
    ...bounds,
    verdictOf(row, result.value),
  ];
}

export const rowTitles = ['what', 'figure', 'rounds from – to', 'must', 'aim', 'verdict'];

export function alignedTable(titles, lines) {
  const all = [titles, ...lines];
  const widths = titles.map((_, i) => Math.max(...all.map((line) => line[i].length)));
  return all
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function markdownTable(titles, lines) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(titles), `|${titles.map(() => '---').join('|')}|`, ...lines.map(line)].join('\n');
}
