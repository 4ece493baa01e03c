/** Makes directories that only this process's user may enter. */
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const others = 0o077;
const sticky = 0o1000;

/** Thrown where a directory cannot be made or written. */
class UnwritableDirectory extends Error {
  constructor(directory: string, cause: unknown) {
    const [reason] = (cause as Error).message.split(', ', 1);
    super(`${directory} cannot be written (${reason}). ${writeRemedy((cause as NodeJS.ErrnoException).code)}`, {
      cause,
    });
    this.name = 'UnwritableDirectory';
  }
}

const remedies: Readonly<Record<string, string>> = {
  EROFS: 'Mount its disk so that it can be written',
  ENOSPC: 'Free space on its disk',
  EDQUOT: 'Free space on its disk, or raise the quota',
  EACCES: 'Give it to the user that runs Lodestone ("chown")',
};

/** What to do where the system refuses to write below the data directory. */
export function writeRemedy(code: string | undefined): string {
  const remedy = remedies[code ?? ''];
  return remedy === undefined
    ? 'Set storage.data_dir to a directory that Lodestone can write.'
    : `${remedy}, or set storage.data_dir to another directory.`;
}

/**
 * Makes the directory, or removes the rights of others from an existing one. A directory of another user (a mounted volume)
 * stays as it is: the files in it are private by themselves.
 */
export function makePrivateDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new UnwritableDirectory(directory, reasonOf(directory, error));
  }
  const { mode } = statSync(directory);
  if ((mode & others) === 0) return;
  if ((mode & sticky) !== 0) {
    throw new Error(
      `${directory} is shared by all users of this machine. Set storage.data_dir to a directory that only Lodestone uses.`,
    );
  }
  try {
    chmodSync(directory, 0o700);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}

/** Node calls a directory that cannot be made on a read-only disk one that does not exist. */
function reasonOf(directory: string, error: unknown): unknown {
  let above = directory;
  while (!existsSync(above) && above !== dirname(above)) above = dirname(above);
  try {
    accessSync(above, constants.W_OK);
    return error;
  } catch (reason) {
    return reason;
  }
}
