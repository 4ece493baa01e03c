/** Makes directories that only this process's user may enter. */
import { chmodSync, mkdirSync, statSync } from 'node:fs';

const others = 0o077;
const sticky = 0o1000;

/**
 * Makes the directory, or removes the rights of others from an existing one. A directory of another user (a mounted volume)
 * stays as it is: the files in it are private by themselves.
 */
export function makePrivateDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
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
