/**
 * A release made twice, from two clean clones in two places, is the same to the byte, its signature too; one flipped byte of the package
 * is refused. It is made of the last commit. Needs the npm registry, or a cache that has the packages.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'lodestone-twice-'));
const key = join(folder, 'key');
// Work goes on in the checkout meanwhile.
const checkout = join(folder, 'checkout');
const node = (env, ...args) =>
  execFileSync(process.execPath, args, {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });

try {
  execFileSync('git', ['clone', '--quiet', '--no-local', root, checkout]);
  node({}, 'scripts/release/release.mjs', '--new-key', key);
  const outs = ['first', 'the second one'].map((name) => {
    const out = join(folder, name, 'out');
    const temporary = join(folder, name, 'tmp');
    mkdirSync(temporary, { recursive: true });
    node({ TMPDIR: temporary }, 'scripts/release/release.mjs', '--key', key, '--skip-checks', '--out', out);
    return out;
  });
  const names = outs.map((out) => readdirSync(out).toSorted());
  assert.deepEqual(names[0], names[1]);
  for (const name of names[0]) {
    const [one, other] = outs.map((out) => readFileSync(join(out, name)));
    assert(one.equals(other), `${name} differs`);
  }
  console.log(`Two clones give the same ${names[0].length} files: ${names[0].join(', ')}.`);
  const tarball = join(
    outs[0],
    names[0].find((name) => name.endsWith('.tgz')),
  );
  const verify = () =>
    spawnSync(process.execPath, ['bin/lodestone', 'release', 'verify', tarball], { cwd: root }).status;
  assert.equal(verify(), 0);
  const bytes = readFileSync(tarball);
  bytes[Math.floor(bytes.length / 2)] ^= 1;
  writeFileSync(tarball, bytes);
  assert.equal(verify(), 1, 'a flipped byte is refused');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
