/**
 * Compares the same build of Lodestone under several versions or flags of Node, in turns within one run: CPU and memory.
 *
 *   node bench/node-versions.mjs [--rounds 3] [--quick] [--docs] "node" "/path/to/other/node" "/path/to/other/node --max-semi-space-size=16"
 *
 * `--docs` writes the table into docs/guide/capacity.md. Results are kept in bench/out/node-versions.json.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepareOrExplain } from '../scripts/prepare.mjs';
import { originText, writePage } from './docs-tables.mjs';
import { startLodestone } from './lodestone.mjs';
import { measureMemory } from './memory.mjs';
import { killAll, stopAll } from './processes.mjs';
import { circumstances, keepResults } from './results.mjs';
import { Rig } from './rig.mjs';
import { median } from './statistics.mjs';
import { alignedTable, figureText, markdownTable } from './verdicts.mjs';

const { values: flags, positionals: commands } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
  },
});
if (commands.length === 0) fail('Name at least one Node: node bench/node-versions.mjs "node" "/path/to/node --flag"');
if (!(await prepareOrExplain())) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'lodestone-bench-'));
process.once('exit', () => {
  killAll();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

const versions = commands.map((command) => {
  const [node, ...nodeArgs] = command.split(' ');
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return { name: `Node ${[version, ...nodeArgs].join(' ')}`, node, nodeArgs };
});
const extraStarters = Object.fromEntries(
  versions.map(({ name, node, nodeArgs }, i) => [
    name,
    (rig) => startLodestone({ ...rig.place(`version-${i}`), node, nodeArgs }),
  ]),
);
const rounds = Number(flags.rounds);
const rig = await new Rig({ folder, rounds, scale: flags.quick ? 0.4 : 1, extraStarters }).open();
const names = versions.map(({ name }) => name);

const memory = {};
for (const name of names) {
  memory[name] = await measureMemory(rig, await rig.contender(name));
  console.log(`${name}: ${figureText(memory[name].idleMb)} MB idle, ${figureText(memory[name].loadedMb)} MB loaded`);
}
const cpu = {};
for (const scenario of ['json', 'paced', 'prompt']) cpu[scenario] = await rig.compare(scenario, names);
await stopAll();

const titles = ['Node', 'JSON, µs', 'chunk, µs', '33 KB prompt, µs', 'memory idle, MB', 'loaded, MB'];
const lines = names.map((name) => [
  name,
  ...['json', 'paced', 'prompt'].map((scenario) => figureText(median(cpu[scenario].cpu(name)))),
  figureText(memory[name].idleMb),
  figureText(memory[name].loadedMb),
]);
console.log(`\n${alignedTable(titles, lines)}`);
const at = { disturbed: rig.disturbed, ...circumstances() };
keepResults('node-versions', { titles, lines, ...at });
if (flags.docs) {
  const text = `${markdownTable(titles, lines)}\n\n${originText('node bench/node-versions.mjs', [at])}`;
  writePage('docs/guide/capacity.md', { node: text });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}
