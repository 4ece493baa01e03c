/** Writes a bar chart as SVG: one panel a column, logarithmic, on a ground of its own, in colours that follow the reader's light or dark theme. */

const panelWidth = 440;
const barHeight = 20;
const rowHeight = 30;
const labelWidth = 150;
const valueWidth = 70;
const top = 46;
const margin = 14;
const panelGap = 28;

const style = `
  .ground { fill: #ffffff; }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .note { font-size: 11px; fill: #59636e; }
  .bar { fill: #8c959f; }
  .ours { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; }
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #6e7681; }
    .ours { fill: #4493f8; }
  }`;

/** Shares of the full length for values, on a logarithmic scale that starts at half of the least. */
export function barShares(values) {
  const finite = values.filter((value) => Number.isFinite(value) && value > 0);
  const low = Math.log(Math.min(...finite) / 2);
  const high = Math.log(Math.max(...finite));
  return values.map((value) => (Number.isFinite(value) && value > 0 ? (Math.log(value) - low) / (high - low) : 0));
}

/** `panels` are `{title, note, values: [{name, value, ours, text}]}`. */
export function plotSvg(panels, description) {
  const rows = Math.max(...panels.map(({ values }) => values.length));
  const width = panels.length * panelWidth + (panels.length - 1) * panelGap;
  const height = top + rows * rowHeight + 6;
  const drawn = panels.map((panel, i) => panelSvg(panel, i * (panelWidth + panelGap)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${-margin} ${-margin} ${width + 2 * margin} ${height + 2 * margin}" role="img" aria-label="${escaped(description)}">
<style>${style}
</style>
<rect class="ground" x="${-margin}" y="${-margin}" width="100%" height="100%" rx="8"/>
${drawn.join('\n')}
</svg>
`;
}

function panelSvg({ title, note, values }, left) {
  const shares = barShares(values.map(({ value }) => value));
  const longest = panelWidth - labelWidth - valueWidth;
  const lines = values.map(({ name, text, ours }, i) => {
    const y = top + i * rowHeight;
    const length = Math.max(1, Math.round(shares[i] * longest));
    return [
      `<text x="${left + labelWidth - 8}" y="${y + 15}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${ours ? 'bar ours' : 'bar'}" x="${left + labelWidth}" y="${y}" width="${length}" height="${barHeight}" rx="3"/>`,
      `<text x="${left + labelWidth + length + 6}" y="${y + 15}">${escaped(text)}</text>`,
    ].join('\n');
  });
  return [
    `<text class="title" x="${left}" y="16">${escaped(title)}</text>`,
    `<text class="note" x="${left}" y="34">${escaped(note)}</text>`,
    ...lines,
  ].join('\n');
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
