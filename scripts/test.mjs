/**
 * `npm test`: prepares the checkout, runs every suite, checks style and types meanwhile, and ends with one line, `N passed, M failed`.
 * Style, unused code, types and the dashboard's size count as one check each. Arguments go to vitest: `npm test -- tests/api`.
 * `npm run test:fast` is this with `--fast`: style, types, most units and a smoke test, and it says what it leaves out.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { leftOut } from '../tests/fast.mjs';
import { prepareOrExplain, root } from './prepare.mjs';
import { run } from './run-process.mjs';

const modules = join(root, 'node_modules');
const fast = process.argv[2] === '--fast';
const startedAt = performance.now();
let passed = 0;
let failed = 0;

// The types are checked beside the suites.
if (await prepareOrExplain({ checkTypes: false })) {
  await Promise.all([checks(), suites(process.argv.slice(fast ? 3 : 2))]);
} else {
  failed++;
}
if (fast) {
  console.log(`Left out, and run by npm test: ${leftOut.join('; ')}.`);
  console.log(`It took ${Math.round((performance.now() - startedAt) / 1000)} s.`);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

async function checks() {
  await check('Style', [join(modules, '@biomejs', 'biome', 'bin', 'biome'), 'check', '.']);
  await check('Unused code', [join(modules, 'knip', 'bin', 'knip.js'), '--no-progress']);
  await check('Types', compilerArgs('tsconfig.json'));
  await check('Types of the dashboard', compilerArgs('dashboard/tsconfig.json'));
  if (!fast) await check('Size of the dashboard', [join('dashboard', 'scripts', 'check-size.mjs')]);
}

/** What was found is kept, so that the next run looks only at what has changed. */
function compilerArgs(project) {
  const kept = join(modules, '.cache', `types-${project.replaceAll('/', '-')}.tsbuildinfo`);
  const compiler = join(modules, 'typescript', 'bin', 'tsc');
  // Several threads check the same types several times: they take half the time, and twice the processor that the suites need.
  return [compiler, '-p', project, '--noEmit', '--singleThreaded', '--incremental', '--tsBuildInfoFile', kept];
}

/** Beside the suites, which mostly wait: it leaves them the processor, and its output comes in one piece among theirs. */
async function check(name, args) {
  const code = await run(process.execPath, args, { cwd: root, group: true, background: true });
  console.log(`${name}: ${code === 0 ? 'sound' : 'FAILED'}.`);
  if (code === 0) passed++;
  else failed++;
}

async function suites(args) {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-test-'));
  const countFile = join(folder, 'count.json');
  const vitest = join(modules, 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'count-reporter.mjs')}`];
  const projects = fast ? ['--project', 'units', '--project', 'black box'] : [];
  const code = await run(process.execPath, [vitest, 'run', ...projects, ...reporters, ...args], {
    cwd: root,
    env: { LODESTONE_TEST_COUNT: countFile, ...(fast && { LODESTONE_FAST: '1' }) },
    group: true,
  });
  const count = readCount(countFile);
  rmSync(folder, { recursive: true, force: true });
  for (const name of count.repeated) console.log(`Passed only when it was repeated: ${name}`);
  for (const { file, tests } of count.skipped) console.log(`Skipped: ${file} (${tests})`);
  passed += count.passed;
  failed += count.failed;
  const ran = count.passed + count.failed > 0;
  if (!ran) console.error('No test ran.');
  if (count.failed === 0 && (!ran || code !== 0)) failed++;
}

function readCount(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, skipped: [], repeated: [] };
  }
}
