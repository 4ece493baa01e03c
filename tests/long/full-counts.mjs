/**
 * Every suite whose counts are scaled down in `npm test`, with its full counts and times, one file after another so that they do not
 * disturb one another's figures. The files are found by what they, or the files beside them, call. Takes long.
 *
 *   node tests/long/full-counts.mjs            all of them
 *   node tests/long/full-counts.mjs money      those whose path has this in it
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const mark = /\b(?:scaled|forSeeds|propertiesSuite)\(|import \{[^}]*\bfull\b[^}]*\}|LODESTONE_FULL/;

const chosen = process.argv.slice(2);
const files = ['src', 'tests']
  .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((path) => join(folder, path)))
  .filter((path) => path.endsWith('.test.ts') && isScaled(path))
  .filter((path) => chosen.length === 0 || chosen.some((part) => path.includes(part)))
  .sort();
if (files.length === 0) throw new Error(`No file with scaled counts has ${chosen.join(' or ')} in its path.`);

/** By its own text, or by that of a file beside it that it imports. In a browser every row of a table is looked at instead of the first ones. */
function isScaled(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const beside = [...text.matchAll(/from '\.\/([^']+)\.js'/g)].map(([, name]) =>
    join(root, dirname(path), `${name}.ts`),
  );
  const texts = [text, ...beside.filter(existsSync).map((file) => readFileSync(file, 'utf8'))];
  return path.startsWith(join('tests', 'browser')) || texts.some((each) => mark.test(each));
}

const child = spawn(process.execPath, [vitest, 'run', '--no-file-parallelism', ...files], {
  cwd: root,
  env: { ...process.env, LODESTONE_FULL: '1' },
  stdio: 'inherit',
});
process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
