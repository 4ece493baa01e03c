/**
 * `npm run bench`: measures every row of bench/rows.mjs beside a bare proxy and nginx in the same run, and prints what each figure must
 * be, what it aims at, and whether it is. CPU is that of the gateway's whole process tree, its PostgreSQL included.
 * `--help` shows the options. Results are kept in bench/out/rows.json.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { canMeasureCpu } from './cpu.mjs';
import { originText, writePage } from './docs-tables.mjs';
import { LeftOut } from './left-out.mjs';
import { killAll, pinning, stopAll } from './processes.mjs';
import { circumstances, keepResults, readResults } from './results.mjs';
import { Rig } from './rig.mjs';
import { rows } from './rows.mjs';
import { summaryOf } from './statistics.mjs';
import { alignedTable, markdownTable, rowCells, rowTitles } from './verdicts.mjs';

const usage = `npm run bench -- [--rounds 5] [--only json-bare,steady-p99] [--quick] [--docs] [--list]

  --rounds N   rounds of each row; the figure is their median
  --only A,B   these rows alone; "none" measures nothing
  --quick      two short rounds, for a first look
  --docs       write the kept results into docs/guide/capacity.md
  --list       the names of all rows`;
const flags = readFlags();

if (flags.help) {
  console.log(usage);
  process.exit(0);
}
if (flags.list) {
  for (const { name, what } of rows) console.log(`${name.padEnd(16)} ${what}`);
  process.exit(0);
}
const wanted = chooseRows(flags.only);
if (wanted.length > 0) await measureRows(wanted);
if (flags.docs) writeDocs();

function readFlags() {
  const flag = { type: 'boolean', default: false };
  const options = {
    rounds: { type: 'string' },
    only: { type: 'string' },
    quick: flag,
    docs: flag,
    list: flag,
    help: { ...flag, short: 'h' },
  };
  try {
    const { values } = parseArgs({ options });
    if (values.rounds !== undefined && !/^[1-9]\d{0,2}$/.test(values.rounds))
      fail(`--rounds takes a number from 1 to 999, not "${values.rounds}".`);
    return values;
  } catch (error) {
    return fail(`${error.message}\n\n${usage}`);
  }
}

function chooseRows(only) {
  if (only === undefined) return rows;
  const names = only.split(',').filter((name) => name !== 'none');
  for (const name of names)
    if (!rows.some((row) => row.name === name))
      fail(`There is no row "${name}". \`npm run bench -- --list\` shows all.`);
  return rows.filter(({ name }) => names.includes(name));
}

async function measureRows(chosen) {
  if (!canMeasureCpu)
    fail('The benchmark reads CPU and memory from /proc, which this system does not have. Run it on Linux.');
  if (!(await prepareOrExplain())) process.exit(1);
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-bench-'));
  process.once('exit', () => {
    killAll();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const rounds = Number(flags.rounds ?? (flags.quick ? 2 : 5));
  const rig = await new Rig({ folder, rounds, scale: flags.quick ? 0.4 : 1 }).open();
  console.log(`${rounds} rounds; ${pinning}.`);
  const results = {};
  for (const row of chosen) {
    const disturbedBefore = rig.disturbed;
    const figures = await measureRow(row, rig);
    results[row.name] = { ...figures, disturbed: rig.disturbed - disturbedBefore, ...circumstances() };
    // After each row, so that an interrupted run keeps what it has.
    keepResults('rows', { [row.name]: results[row.name] });
  }
  await stopAll();
  console.log(
    `\n${alignedTable(
      rowTitles,
      chosen.map((row) => rowCells(row, results[row.name])),
    )}`,
  );
  console.log(`\n${rig.repeats} measurements were repeated because other programs used the cores.`);
  if (rig.disturbed > 0) console.log(`${rig.disturbed} stayed disturbed: run it again on a quiet machine.`);
  console.log('Kept in bench/out/rows.json.');
}

async function measureRow(row, rig) {
  try {
    return summaryOf(await row.measure(rig));
  } catch (error) {
    if (error instanceof LeftOut) return { leftOut: error.message };
    // The other rows are still worth measuring.
    process.exitCode = 1;
    console.error(`${row.name} failed: ${error.stack}`);
    return { leftOut: `it failed: ${error.message.split('\n')[0]}` };
  }
}

function writeDocs() {
  const results = readResults('rows');
  if (Object.keys(results).length === 0) fail('Nothing has been measured yet: run npm run bench first.');
  const lines = rows.map((row) => rowCells(row, results[row.name]));
  const text = `${markdownTable(rowTitles, lines)}\n\n${originText('npm run bench', results)}`;
  writePage('docs/guide/capacity.md', { rows: text });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
