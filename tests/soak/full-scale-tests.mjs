/** Runs files of tests/cluster with their full counts, one at a time so that they do not disturb one another's figures; the exit code says whether all held. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

export async function runAtFullScale(names) {
  const files = names.map((name) => `tests/cluster/${name}.test.ts`);
  const args = [vitest, 'run', '--no-file-parallelism', ...files];
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { ...process.env, LODESTONE_FULL: '1' },
    stdio: 'inherit',
  });
  process.exitCode = await new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}
