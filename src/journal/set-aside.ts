/** The file for records that the store will never accept. An operator looks at them, and the other records go on. */
import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../base/logger.js';
import type { Clock } from '../base/time.js';

interface SetAsideOptions {
  dir: string;
  clock: Clock;
  logger: Logger;
}

export class SetAsideFile {
  /** The number of records set aside. */
  count = 0;
  #failing = false;

  constructor(private readonly options: SetAsideOptions) {}

  /** False where the disk does not accept it; the record then stays where it is. */
  add(line: string, cause: unknown): boolean {
    const { dir, clock, logger } = this.options;
    const entry = JSON.stringify({ at: new Date(clock.now()).toISOString(), error: String(cause), record: line });
    try {
      appendWhole(join(dir, 'set-aside.log'), Buffer.from(`${entry}\n`));
    } catch (error) {
      if (!this.#failing)
        logger.error(
          { error: String(cause), asideError: String(error) },
          'a record can neither be settled nor set aside; it stays in the journal until set-aside.log can be written',
        );
      this.#failing = true;
      return false;
    }
    this.#failing = false;
    this.count++;
    logger.error({ error: String(cause) }, 'a record cannot be settled; it was set aside in set-aside.log');
    return true;
  }
}

/** Writes all bytes or none. */
function appendWhole(file: string, bytes: Buffer): void {
  const fd = openSync(file, 'a', 0o600);
  const { size } = fstatSync(fd);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fsyncSync(fd);
  } catch (error) {
    ftruncateSync(fd, size);
    throw error;
  } finally {
    closeSync(fd);
  }
}
