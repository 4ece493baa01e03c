/** The kept results: one file in bench/out/ for each command, in which a run replaces the rows that it measured. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pinning } from './processes.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'bench', 'out');

/** By name; empty before the first run. */
export function readResults(file) {
  try {
    return JSON.parse(readFileSync(join(folder, `${file}.json`), 'utf8'));
  } catch {
    return {};
  }
}

export function keepResults(file, results) {
  mkdirSync(folder, { recursive: true });
  const kept = { ...readResults(file), ...results };
  writeFileSync(join(folder, `${file}.json`), `${JSON.stringify(kept, null, 1)}\n`);
  return kept;
}

/** What a reader needs to judge a figure. */
export function circumstances() {
  return {
    at: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    pinning,
  };
}

function commit() {
  try {
    // Without optional locks, so that a run does not get in the way of a commit.
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
    return execFileSync('git', ['describe', '--always', '--dirty'], { cwd: root, encoding: 'utf8', env }).trim();
  } catch {
    // An unpacked archive has no history.
    return 'unknown';
  }
}
