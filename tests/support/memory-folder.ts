/** Where the tests keep what they write and delete: in memory where there is room, because on a disk most of the time goes to syncing it. */
import { existsSync, statfsSync } from 'node:fs';

const memory = '/dev/shm';
const bytesNeeded = 4 * 1024 ** 3;

/** Makes it the temporary folder of this process and of those that it starts, unless somebody chose one. No test cares for a power cut. */
export function writeToMemory(): void {
  if (process.env.TMPDIR || !existsSync(memory)) return;
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize > bytesNeeded) process.env.TMPDIR = memory;
}
