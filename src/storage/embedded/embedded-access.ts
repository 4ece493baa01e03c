/**
 * Controls who may read and use the embedded server: its files belong to the user that it runs as, and it admits only
 * processes of the gateway's own user, which the kernel identifies, so there is no password to keep.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lchownSync, lstatSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { nobody, type ServerUser } from './embedded-binaries.js';

export function giveTo(user: ServerUser, directory: string): void {
  chmodSync(directory, 0o700);
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid);
}

/**
 * Gives a cluster to the server's user: one of `nobody`, which `initdb` and older versions ran as, or one that root brought back from a
 * copy. No server may run on it. PostgreSQL refuses a cluster that others may read, as a copy often is.
 */
export function takeOver(user: ServerUser, path: string): void {
  const found = lstatSync(path);
  const wanted = { uid: user.uid ?? process.getuid?.(), gid: user.gid ?? process.getgid?.() };
  if (found.uid !== wanted.uid && user.uid !== undefined) giveAll(user, path, found.uid);
  if (wanted.uid !== undefined && lstatSync(path).uid !== wanted.uid)
    throw new Error(
      `${path} belongs to the user ${found.uid}, but the embedded PostgreSQL runs as ${wanted.uid}. To give it to them: chown -R ${wanted.uid}:${wanted.gid} ${path}`,
    );
  chmodSync(path, 0o700);
}

function giveAll({ uid, gid }: ServerUser, path: string, owner: number): void {
  // In a directory of anybody else, root would change files that they chose.
  if (uid === undefined || gid === undefined || ![0, nobody.uid].includes(owner)) return;
  const give = (entry: string): void => {
    const isDirectory = lstatSync(entry).isDirectory();
    if (isDirectory) for (const name of readdirSync(entry)) give(join(entry, name));
    // The directory itself comes last, so that an interrupted take-over starts again.
    lchownSync(entry, uid, gid);
  };
  give(path);
}

const writeFiles = `umask 077
printf '%s\\n' "$1" >pg_hba.conf.new && mv -f pg_hba.conf.new pg_hba.conf &&
printf '%s\\n' "$2" >pg_ident.conf.new && mv -f pg_ident.conf.new pg_ident.conf`;

/** Written as the server's user: root must not follow links in a directory of another user. */
export function admitOwnUserOnly(user: ServerUser, cluster: string): void {
  const name = userInfo().username.replaceAll('"', '""');
  const rules = ['local all all peer map=gateway', `gateway "${name}" postgres`];
  const written = spawnSync('/bin/sh', ['-c', writeFiles, 'sh', ...rules], { ...user, cwd: cluster, encoding: 'utf8' });
  if (written.status === 0) return;
  throw new Error(`The access rules of the embedded store could not be written to ${cluster}: ${written.stderr}`);
}

/** Asks the system instead of reading modes, because modes alone do not decide it. */
function canEnter(user: ServerUser, directory: string): boolean {
  const entered = spawnSync('/bin/sh', ['-c', 'cd -- "$1"', 'sh', directory], { ...user, cwd: '/', stdio: 'ignore' });
  return entered.status === 0;
}

/**
 * The path by which the server's user reaches a directory. Below a private one, such as the data directory of root, it cannot
 * reach it by name. But it is started inside, and Linux lets a process name its own working directory.
 */
export function pathFor(user: ServerUser, directory: string): string {
  if (canEnter(user, directory)) return directory;
  if (process.platform === 'linux') return '/proc/self/cwd';
  throw new Error(
    `The user that PostgreSQL runs as cannot enter ${directory}. Start Lodestone as a user other than root, or set storage.database_url.`,
  );
}
