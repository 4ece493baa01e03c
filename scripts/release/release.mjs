/**
 * `npm run release -- --key FILE [--out DIR]`: makes a release of the commit that is checked out. It clones the commit, runs every check
 * there, and writes the package, its bill of materials, licences, notes, checksums and their signature. The same commit gives the same
 * bytes with the same versions of Node and npm. `--new-key FILE` makes a key, `--set-version X` writes a version to every place that has it.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { productionPackages } from '../production-packages.mjs';
import { sbomOf } from '../sbom.mjs';
import { changesOf, isoDate, licencesText, notesOf } from './notes.mjs';
import { newKey, signFolder } from './sign.mjs';
import { setVersion, versionFaults } from './version-places.mjs';

const root = resolve(import.meta.dirname, '../..');

class ReleaseFault extends Error {}

function command(folder, program, ...args) {
  return execFileSync(program, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
}

/** What has to be true before anything is built. */
function faultsBefore(folder) {
  const git = (...args) => command(folder, 'git', ...args);
  const faults = [];
  if (git('status', '--porcelain') !== '')
    faults.push('The work tree has changes. Commit them: a release is a commit.');
  if (git('rev-parse', '--is-shallow-repository') === 'true')
    faults.push('The clone is shallow, and the dates of the guide come from the history. Run "git fetch --unshallow".');
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  faults.push(...versionFaults(folder, version));
  const changes = changesOf(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), version);
  if (changes === undefined) faults.push(`CHANGELOG.md has no section "## [${version}] - date".`);
  return faults;
}

function release({ key, out, skipChecks }) {
  if (!key)
    throw new ReleaseFault('Name the key that signs: --key FILE. "npm run release -- --new-key FILE" makes one.');
  const faults = faultsBefore(root);
  if (faults.length > 0) throw new ReleaseFault(faults.join('\n'));
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-release-'));
  try {
    const clone = join(folder, 'clone');
    command(root, 'git', 'clone', '--quiet', '--no-local', root, clone);
    command(clone, 'git', 'checkout', '--quiet', command(root, 'git', 'rev-parse', 'HEAD'));
    // No package needs its install script.
    command(clone, 'npm', 'ci', '--include=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund');
    say(skipChecks ? 'Building, without the checks.' : 'Running every check.');
    const script = skipChecks ? 'scripts/prepare.mjs' : 'scripts/test.mjs';
    execFileSync(process.execPath, [script], { cwd: clone, stdio: ['ignore', 'inherit', 'inherit'] });
    const target = resolve(out ?? join(root, 'release', versionOf(clone)));
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    write(clone, target);
    signFolder(target, readFileSync(key, 'utf8'));
    say(`The release is in ${target}: ${readdirSync(target).toSorted().join(', ')}.`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const versionOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
const say = (line) => console.log(line);

function write(clone, target) {
  const read = (name) => JSON.parse(readFileSync(join(clone, name), 'utf8'));
  const [manifest, lock] = [read('package.json'), read('package-lock.json')];
  const seconds = Number(command(clone, 'git', 'log', '-1', '--format=%ct'));
  const commit = command(clone, 'git', 'rev-parse', 'HEAD');
  command(clone, 'npm', 'pack', '--ignore-scripts', '--silent', '--pack-destination', target);
  const sbom = sbomOf({ manifest, lock, time: new Date(seconds * 1000).toISOString() });
  writeFileSync(join(target, 'sbom.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
  const packages = new Map([...productionPackages(lock), ...productionPackages(lock, 'dashboard')]);
  writeFileSync(join(target, 'licences.txt'), licencesText(packages));
  cpSync(join(clone, 'LICENSE'), join(target, 'LICENSE'));
  const changes = changesOf(readFileSync(join(clone, 'CHANGELOG.md'), 'utf8'), manifest.version);
  const made = { node: process.version, npm: command(clone, 'npm', '--version'), commit, day: isoDate(seconds) };
  writeFileSync(join(target, 'notes.md'), notesOf({ version: manifest.version, changes, made }));
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({
    options: {
      ...{ key: { type: 'string' }, out: { type: 'string' }, 'new-key': { type: 'string' } },
      ...{ 'set-version': { type: 'string' }, 'skip-checks': { type: 'boolean' } },
    },
  });
  try {
    if (values['new-key']) say(newKey(resolve(values['new-key'])));
    else if (values['set-version']) say(setVersion(root, values['set-version']));
    else release({ key: values.key, out: values.out, skipChecks: values['skip-checks'] });
  } catch (error) {
    console.error(error instanceof ReleaseFault ? error.message : (error.stack ?? error));
    process.exitCode = 1;
  }
}
