/** The recipes of CONTRIBUTING.md in full: the scratch copy is compiled, its pages are written and the suites concerned pass. */
import { join } from 'node:path';
import { run } from '../../scripts/run-process.mjs';

const root = join(import.meta.dirname, '..', '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
process.exitCode = await run(process.execPath, [vitest, 'run', 'tests/recipes'], {
  cwd: root,
  env: { LODESTONE_RECIPES: '1' },
  group: true,
});
