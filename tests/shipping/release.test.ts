/** A release as a stranger checks it: by the command and by the shell lines of the guide. tests/long/release.mjs builds one twice. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { productionPackages } from '../../scripts/production-packages.mjs';
import { changesOf, licencesText, notesOf } from '../../scripts/release/notes.mjs';
import { newKey, signFolder } from '../../scripts/release/sign.mjs';
import { setVersion, versionFaults } from '../../scripts/release/version-places.mjs';
import { main } from '../../src/cli/cli.js';
import { lock, manifest, root, textOf } from './shipped-files.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-release-test-'));
const [made, release, key] = [join(folder, 'made'), join(folder, 'release'), join(folder, 'key')];
const script = /```sh verify\n([^`]*)```/.exec(textOf('docs/guide/releases.md'))![1]!;

beforeAll(() => {
  cpSync(join(root, 'LICENSE'), join(made, 'LICENSE'));
  for (const [name, text] of [
    ['package.tgz', 'a package'],
    ['notes.md', 'notes'],
  ] as const) {
    writeFileSync(join(made, name), text);
  }
  newKey(key);
  signFolder(made, readFileSync(key, 'utf8'));
});
beforeEach(() => {
  rmSync(release, { recursive: true, force: true });
  cpSync(made, release, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verify(...argv: string[]) {
  const out: string[] = [];
  const io = { out: (line: string) => void out.push(line), err: (line: string) => void out.push(line), env: {} };
  const code = await main(['release', 'verify', ...argv], { ...io, cwd: release });
  return { code, out: out.join('\n') };
}
const byShell = (publicKey = `${key}.pub`) =>
  spawnSync('sh', ['-c', script, 'verify.sh', publicKey], { cwd: release, encoding: 'utf8' });

describe('a release that was not changed', () => {
  it('holds by the command: one file, or all of them', async () => {
    const one = await verify('package.tgz');
    expect(one).toEqual({ code: 0, out: expect.stringContaining('ok    package.tgz has the SHA-256 that is signed.') });
    expect(one.out).toContain('if this key is the one that its makers publish');
    const all = await verify('--key', `${key}.pub`, 'SHA256SUMS');
    expect([all.code, all.out.split('\n').length, all.out]).toEqual([
      0,
      5,
      expect.stringMatching(/The release holds\.$/),
    ]);
  });

  it('holds by the shell lines of the guide, which are at most ten, with the same fingerprint', async () => {
    expect(script.trim().split('\n').length).toBeLessThanOrEqual(10);
    const { status, stdout } = byShell();
    expect([status, stdout]).toEqual([0, expect.stringContaining('package.tgz: OK')]);
    const { key: fingerprint } = JSON.parse((await verify('--json', 'package.tgz')).out);
    expect(stdout).toContain(fingerprint);
  });

  it('has the same signature each time, and a key that only its owner reads', () => {
    signFolder(release, readFileSync(key, 'utf8'));
    // The list is one of the files of a second signing, so only a fresh folder is the same.
    rmSync(release, { recursive: true });
    cpSync(made, release, { recursive: true, filter: (path) => !/SHA256SUMS|release-key/.test(path) });
    signFolder(release, readFileSync(key, 'utf8'));
    for (const name of ['SHA256SUMS', 'SHA256SUMS.sig'])
      expect(readFileSync(join(release, name))).toEqual(readFileSync(join(made, name)));
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(() => newKey(key)).toThrow('EEXIST');
  });
});

describe('one flipped byte is refused, by the command and by the shell', () => {
  it.each(['package.tgz', 'SHA256SUMS', 'SHA256SUMS.sig'])('in %s', async (name) => {
    const bytes = readFileSync(join(release, name));
    for (const at of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      writeFileSync(join(release, name), changed);
      expect((await verify('package.tgz')).code, `byte ${at}`).toBe(1);
      expect(byShell().status, `byte ${at}`).not.toBe(0);
    }
  });

  it('another key, a file that is not listed, and an absent list', async () => {
    const other = join(folder, `other-${process.pid}`);
    newKey(other);
    expect(await verify('--key', `${other}.pub`, 'package.tgz')).toEqual({
      ...{ code: 1, out: expect.stringContaining('not of this key') },
    });
    expect(byShell(`${other}.pub`).status).not.toBe(0);
    writeFileSync(join(release, 'more.tgz'), '');
    expect((await verify('more.tgz')).out).toContain('more.tgz is not in the signed SHA256SUMS');
    expect((await verify('--key', 'notes.md', 'package.tgz')).out).toContain('is no public Ed25519 key');
    rmSync(join(release, 'SHA256SUMS.sig'));
    expect(await verify('package.tgz')).toEqual({ code: 1, out: expect.stringContaining('Download it') });
  });
});

describe('what a release says', () => {
  it('the version is the same in every place, which one command writes', () => {
    expect(versionFaults(root, manifest.version)).toEqual([]);
    expect(versionFaults(root, '9.9.9').length).toBeGreaterThan(8);
    const copy = join(folder, 'copy');
    const files = ['package.json', 'package-lock.json', 'dashboard/package.json', 'compose.yaml', 'Dockerfile'];
    const others = ['README.md', 'docs/guide', 'deploy', 'tests/shipping/helm'];
    for (const path of [...files, ...others]) cpSync(join(root, path), join(copy, path), { recursive: true });
    setVersion(copy, '9.9.9');
    expect(versionFaults(copy, '9.9.9')).toEqual([]);
    expect(() => setVersion(copy, 'next')).toThrow('no version');
  });

  it('the changelog is one of Keep a Changelog: versions with dates, newest first, in its six kinds', () => {
    const changelog = textOf('CHANGELOG.md');
    const versions = [...changelog.matchAll(/^## (.*)$/gm)].map(([, text]) => text!);
    expect(versions[0]).toBe('[Unreleased]');
    for (const text of versions.slice(1)) expect(text).toMatch(/^\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}$/);
    expect(versions[1]).toContain(`[${manifest.version}]`);
    const kinds = [...changelog.matchAll(/^### (.*)$/gm)].map(([, text]) => text!);
    for (const kind of kinds)
      expect(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']).toContain(kind);
    const changes = changesOf(changelog, manifest.version)!;
    const notes = notesOf({
      ...{ version: manifest.version, changes },
      made: { node: 'v1', npm: '2', commit: 'abc', day: '2026-01-01' },
    });
    expect(notes).toContain('### Added');
    expect(notes).not.toContain('[Unreleased]');
    expect(changesOf(changelog, '0.0.9')).toBeUndefined();
  });

  it('lists the licence of every package that is shipped, and each is one that may be passed on', () => {
    const packages = new Map([...productionPackages(lock), ...productionPackages(lock, 'dashboard')]);
    const lines = licencesText(packages).trim().split('\n');
    expect(lines.length).toBeGreaterThan(100);
    const free =
      /: (?:\(?(?:MIT|ISC|0BSD|Apache-2\.0|BSD-[23]-Clause|BlueOak-1\.0\.0|MIT-0|PostgreSQL|CC[\w.-]*|OFL-1\.1|Unlicense|Python-2\.0|MPL-2\.0|PDDL-1\.0)(?: (?:OR|AND) )?)+\)?/;
    expect(lines.filter((line) => !free.test(line))).toEqual([]);
  });

  it('every package is pinned with its integrity, and none runs a script where it is installed', () => {
    const entries = Object.entries(lock.packages).filter(
      ([place, { link }]) => place.includes('node_modules/') && !link,
    );
    const bundled = (entry: object) => 'inBundle' in entry;
    const unpinned = entries.filter(([, entry]) => !bundled(entry) && !entry.integrity?.startsWith('sha512-'));
    expect(unpinned.map(([place]) => place)).toEqual([]);
    const scripted = entries.filter(([, entry]) => 'hasInstallScript' in entry).map(([place]) => place);
    const name = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    for (const place of scripted) expect(manifest.allowScripts[name(place)], place).toBe(false);
    for (const file of ['scripts/prepare.mjs', 'scripts/release/release.mjs', 'Dockerfile'])
      expect(textOf(file)).toContain('--ignore-scripts');
  });
});
