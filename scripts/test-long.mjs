/**
 * `npm run test:long`: runs the files of tests/long/list.mjs one after another, each in a process of its own, and ends with one line,
 * `N passed, M failed`. A file passes when it exits with 0. Arguments name the files to run: `npm run test:long -- slow-readers.mjs`.
 */
import { join } from 'node:path';
import { longTests } from '../tests/long/list.mjs';
import { prepareOrExplain, root } from './prepare.mjs';
import { run } from './run-process.mjs';

const chosen = process.argv.slice(2);
const unknown = chosen.filter((name) => !longTests.includes(name));
let passed = 0;
let failed = 0;

for (const name of unknown) {
  console.error(`There is no ${name}. Name one of: ${longTests.join(', ')}.`);
  failed++;
}
if (unknown.length === 0) {
  if (await prepareOrExplain()) await runAll(chosen.length > 0 ? chosen : longTests);
  else failed++;
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function runAll(names) {
  for (const name of names) {
    const startedAt = performance.now();
    console.log(`\n${name}`);
    const code = await run(process.execPath, [join(root, 'tests', 'long', name)], { cwd: root, group: true });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`${name}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
    if (code === 0) passed++;
    else failed++;
  }
}
