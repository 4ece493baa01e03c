/** `npm run pictures`: takes the pictures of the README from a gateway with a month of traffic, and records what they show. */
import { join } from 'node:path';
import { prepareOrExplain, root } from './prepare.mjs';
import { run } from './run-process.mjs';

if (await prepareOrExplain()) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  process.exitCode = await run(process.execPath, [vitest, 'run', '--config', 'tests/pictures/vitest.config.ts'], {
    cwd: root,
    group: true,
  });
} else {
  process.exitCode = 1;
}
