/**
 * `npm run bench:compare`: Lodestone beside nginx, haproxy, Go's proxy, a bare Node proxy, LiteLLM and Portkey, each where it is
 * installed, on the columns of public gateway benchmarks. Prints a table; `--docs` writes the table and a plot into the docs.
 *
 *   npm run bench:compare -- [--rounds 3] [--only lodestone,nginx] [--quick] [--install] [--docs]
 *
 * Results are kept in bench/out/compare.json, one entry a gateway, so that they can be measured one at a time. `--only none --docs`
 * writes what is kept. The plain proxies do nothing but forward; only Lodestone, LiteLLM and Portkey are gateways.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { columns, measureGateway } from './board.mjs';
import { canMeasureCpu } from './cpu.mjs';
import { originText, writePage } from './docs-tables.mjs';
import { LeftOut } from './left-out.mjs';
import { startLitellm, startPortkey } from './peer-gateways.mjs';
import { startGoProxy, startHaproxy } from './peer-proxies.mjs';
import { plotSvg } from './plot.mjs';
import { killAll, pinning, stopAll } from './processes.mjs';
import { circumstances, keepResults, readResults } from './results.mjs';
import { Rig } from './rig.mjs';
import { alignedTable, figureText, markdownTable } from './verdicts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: flags } = parseArgs({
  options: {
    rounds: { type: 'string' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
    install: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});

/** In the order of the table. */
const gateways = [
  { name: 'nginx', title: 'nginx' },
  { name: 'haproxy', title: 'haproxy' },
  { name: 'go', title: 'Go ReverseProxy' },
  { name: 'bare', title: 'bare Node proxy' },
  { name: 'lodestone', title: 'Lodestone' },
  { name: 'portkey', title: 'Portkey' },
  { name: 'litellm', title: 'LiteLLM' },
];
const names = gateways.map(({ name }) => name);
const wanted = flags.only ? flags.only.split(',').filter((name) => name !== 'none') : names;
for (const name of wanted)
  if (!names.includes(name)) fail(`There is no gateway "${name}"; there are ${names.join(', ')}.`);

if (wanted.length > 0) await measureGateways();
const results = readResults('compare');
const measured = gateways.filter(({ name }) => results[name]);
if (measured.length === 0) fail('Nothing has been measured yet.');
const titles = ['gateway', ...columns.map(({ title }) => title)];
const lines = measured.map(({ name, title }) => [title, ...columns.map((column) => cell(results[name], column))]);
console.log(`\n${alignedTable(titles, lines)}`);
if (flags.docs) writeDocs();

async function measureGateways() {
  if (!canMeasureCpu) fail('The comparison reads CPU and memory from /proc, which this system does not have.');
  if (!(await prepareOrExplain())) process.exit(1);
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-bench-'));
  process.once('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
  const extraStarters = { haproxy: startHaproxy, go: startGoProxy, portkey: startPortkey, litellm: startLitellm };
  const rig = await new Rig({ folder, rounds, scale: flags.quick ? 0.4 : 1, extraStarters }).open();
  rig.install = flags.install;
  console.log(`${rounds} rounds; ${pinning}.`);
  for (const name of wanted) {
    try {
      const disturbedBefore = rig.disturbed;
      const figures = await measureGateway(rig, name);
      const disturbed = rig.disturbed - disturbedBefore;
      keepResults('compare', { [name]: { ...figures, disturbed, ...circumstances() } });
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error;
      console.log(`${name} is left out: ${error.message}.`);
    }
  }
  await stopAll();
}

function cell(figures, { name }) {
  const value = figures[name];
  return Number.isFinite(value) ? figureText(value >= 10 ? Math.round(value) : value).replace(/\.0$/, '') : '–';
}

function writeDocs() {
  const absent = gateways.filter(({ name }) => !results[name]).map(({ title }) => title);
  const missing = absent.length > 0 ? ` Not installed where this was measured: ${absent.join(', ')}.` : '';
  const kept = Object.fromEntries(measured.map(({ name }) => [name, results[name]]));
  const table = `${markdownTable(titles, lines)}\n\n${originText('npm run bench:compare', kept)}${missing}`;
  writePage('docs/guide/capacity.md', { compare: table });
  const panel = (column, title, note) => ({
    title,
    note,
    values: measured
      .filter(({ name }) => results[name][column] > 0)
      .toSorted((a, b) => results[a.name][column] - results[b.name][column])
      .map(({ name, title: label }) => ({
        name: label,
        value: results[name][column],
        ours: name === 'lodestone',
        text: `${figureText(Math.round(results[name][column])).replace(/\.0+$/, '')} µs`,
      })),
  });
  const panels = [
    panel('cpuUs', 'CPU a JSON request', 'whole process tree, logarithmic; less is better'),
    panel('addedP99Us', 'added p99 at one connection', 'above direct, logarithmic; less is better'),
  ];
  writeFileSync(
    join(root, 'docs', 'guide', 'comparison.svg'),
    plotSvg(panels, 'Lodestone beside proxies and gateways'),
  );
  console.log('Written: docs/guide/comparison.svg.');
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
