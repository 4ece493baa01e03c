/**
 * Remembers, outside of the database, the newest checkpoint that this process has seen published. A database that was restored from a
 * backup is behind it, or has other leaves, and a log that went on from there would contradict what its readers hold.
 */
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { readCheckpoint } from '../proof/checkpoint.js';
import { readNote } from '../proof/note.js';
import { type ReadTile, rootAt } from '../proof/tiles.js';
import type { LogState } from '../storage/log-types.js';

type Rewritten = 'store_behind' | 'forked';

interface Known {
  readonly size: number;
  readonly root: Buffer;
}

export class PublishedCheckpoint {
  private known: Known | null = null;

  constructor(private readonly path: string) {
    try {
      this.take(readFileSync(path, 'utf8'));
    } catch {}
  }

  get size(): number {
    return this.known?.size ?? 0;
  }

  /**
   * Takes over what another process of this machine has seen since. To be called before the state of the log is read: a checkpoint is
   * written here after it is in the store, so a state that is read later is never behind it.
   */
  async refresh(): Promise<void> {
    this.take(await readFile(this.path, 'utf8').catch(() => ''));
  }

  /** Whether the log in the store continues what was published; otherwise how it does not. */
  async compare({ size, root }: LogState, readTile: ReadTile): Promise<Rewritten | null> {
    const { known } = this;
    if (known === null || known.size === 0) return null;
    if (size < known.size) return 'store_behind';
    const then = size === known.size ? root : await rootAt(readTile, known.size);
    return then.equals(known.root) ? null : 'forked';
  }

  /**
   * Called once the checkpoint is in the store, where everybody can read it. A folder that cannot be written is no reason to stop. Off
   * the main thread, because some file systems write the data out before they replace a file, and requests would wait for the disk.
   */
  async remember(checkpoint: string): Promise<void> {
    const read = checkpointIn(checkpoint);
    if (read === null || read.size <= this.size) return;
    this.known = read;
    try {
      const temporary = `${this.path}.${process.pid}`;
      await writeFile(temporary, checkpoint, { mode: 0o600 });
      await rename(temporary, this.path);
    } catch {}
  }

  private take(text: string): void {
    const read = checkpointIn(text);
    if (read !== null && read.size > this.size) this.known = read;
  }
}

function checkpointIn(text: string): Known | null {
  const note = readNote(text);
  return note && readCheckpoint(note.text);
}
