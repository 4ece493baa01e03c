/**
 * Requests with one large value, in every field, shape and API (tests/faults/generator/): no request of another account waits 250 ms, memory
 * grows by less than 150 MB, and is given back within five seconds. The cases come in an order that the seed decides, and end with the
 * time: there are about 35,000 for each size, about one a second. `--together 8` sends eight in a row as one case, and each alone where
 * the row exceeds a bound; `--skip` goes on behind those that an earlier run with the same seed and sizes had.
 *
 *   node tests/long/hostile-requests.mjs --mebibytes 1,8,32 --minutes 30 --seed 1 --only '/v1/messages .* members'
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { run } from '../../scripts/run-process.mjs';

const { values } = parseArgs({
  options: {
    mebibytes: { type: 'string', default: '1,8,32' },
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    /** A regular expression for the name of a case. */
    only: { type: 'string', default: '' },
    together: { type: 'string', default: '1' },
    skip: { type: 'string', default: '0' },
  },
});
const asked = {
  mebibytes: values.mebibytes.split(',').map(Number),
  ...{ minutes: Number(values.minutes), seed: Number(values.seed), only: values.only },
  ...{ together: Number(values.together), skip: Number(values.skip) },
};
const root = join(import.meta.dirname, '..', '..');
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
process.exitCode = await run(process.execPath, [vitest, 'run', 'tests/faults/hostile-requests.test.ts'], {
  cwd: root,
  env: { LODESTONE_FULL: '1', LODESTONE_HOSTILE: JSON.stringify(asked) },
  group: true,
});
