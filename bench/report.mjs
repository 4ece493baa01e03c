/**
 * Turns measurements into one table a scenario: medians, and the median of the ratios to the reference within each round.
 * `of it own` is the gateway's process without what it started, such as its store.
 */

function median(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** A unit of work is a chunk of a stream, else a request. */
function units({ load }) {
  return load.frames || load.ok;
}

function unitCost(entry) {
  return entry.cpuUs / units(entry);
}

/** Ratios are paired by round, so that a slow phase of the machine hits both sides. */
function ratioTo(entries, others, figure) {
  return median(
    entries.map((entry) => {
      const other = others.find((candidate) => candidate.round === entry.round);
      return other ? figure(entry) / figure(other) : Number.NaN;
    }),
  );
}

function addedUs(entries, direct, field) {
  return median(
    entries.map((entry) => {
      const other = direct.find((candidate) => candidate.round === entry.round);
      return other ? entry.load[field] - other.load[field] : Number.NaN;
    }),
  );
}

export function summarise(measurements, scenario, reference) {
  const of = (name) => measurements.filter((entry) => entry.scenario === scenario && entry.name === name);
  const names = [...new Set(measurements.filter((entry) => entry.scenario === scenario).map((entry) => entry.name))];
  return names.map((name) => {
    const entries = of(name);
    const load = (field) => median(entries.map((entry) => entry.load[field]));
    return {
      name,
      cpuUsPerUnit: median(entries.map(unitCost)),
      ownUsPerUnit: median(entries.map((entry) => entry.ownUs / units(entry))),
      cpuRatio: ratioTo(entries, of(reference), unitCost),
      perSecond: load('perSecond'),
      framesPerSecond: load('framesPerSecond'),
      p50Us: load('p50Us'),
      p99Us: load('p99Us'),
      addedP50Us: addedUs(entries, of('direct'), 'p50Us'),
      addedP99Us: addedUs(entries, of('direct'), 'p99Us'),
      firstFrameP50Us: load('firstFrameP50Us'),
      gapP99Us: load('gapP99Us'),
      rssMb: median(entries.map((entry) => entry.rssBytes / 1e6)),
      bad: entries.reduce((sum, { load: { non200, errors } }) => sum + non200 + errors, 0),
    };
  });
}

const number = (digits) => (value) => (Number.isFinite(value) ? value.toFixed(digits) : '-');

const shared = [['gateway', 'name', String]];
const unit = (label) => [
  [`CPU us/${label}`, 'cpuUsPerUnit', number(1)],
  ['of it own', 'ownUsPerUnit', number(1)],
  ['x bare', 'cpuRatio', number(2)],
];
const end = [
  ['RSS MB', 'rssMb', number(0)],
  ['bad', 'bad', String],
];
const wholeColumns = [
  ...shared,
  ...unit('request'),
  ['requests/s', 'perSecond', number(0)],
  ['p50 us', 'p50Us', number(0)],
  ['p99 us', 'p99Us', number(0)],
  ['added p50', 'addedP50Us', number(0)],
  ['added p99', 'addedP99Us', number(0)],
  ...end,
];
const streamColumns = [
  ...shared,
  ...unit('chunk'),
  ['chunks/s', 'framesPerSecond', number(0)],
  ['first p50 us', 'firstFrameP50Us', number(0)],
  ['gap p99 us', 'gapP99Us', number(0)],
  ...end,
];

export function tableText(rows, streamed) {
  const columns = streamed ? streamColumns : wholeColumns;
  const lines = [
    columns.map(([title]) => title),
    ...rows.map((row) => columns.map(([, field, text]) => text(row[field]))),
  ];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines
    .map((line) => line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '))
    .join('\n');
}
