/**
 * The generator of bad inputs (tests/faults/generator) turned on a gateway for as long as is asked: no 5xx, no crash, no hang, always
 * the envelope, no upstream call, nothing billed. Prints the figures of the run and of the process; `--input` runs one number again.
 *
 *   node tests/soak/bad-inputs.mjs --inputs 100000 [--seed 7] [--input 4711]
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    input: { type: 'string' },
  },
});

const env = { ...process.env, LODESTONE_INPUTS: values.inputs, LODESTONE_SEED: values.seed };
if (values.input !== undefined) env.LODESTONE_INPUT = values.input;
console.log(`seed ${values.seed}, ${values.input === undefined ? `${values.inputs} inputs` : `input ${values.input}`}`);

const args = ['node_modules/vitest/vitest.mjs', 'run', 'tests/faults/generated-input.test.ts', '--reporter=verbose'];
const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
let output = '';
child.stdout.on('data', (text) => {
  output += text;
});
child.once('close', (code) => {
  const figures = /LODESTONE_FIGURES (.*)/.exec(output)?.[1];
  if (figures) console.dir(JSON.parse(figures), { depth: 4 });
  if (code !== 0) console.log(output);
  console.log(code === 0 ? 'All held.' : 'Not all held.');
  process.exitCode = code ?? 1;
});
