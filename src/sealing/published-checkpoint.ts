/**
 * Remembers, outside of the database, the newest checkpoint that this process has seen published. A database that was restored from a
 * backup is behind it, or has other leaves, and a log that went on from there would contradict what its readers hold.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readCheckpoint } from '../proof/checkpoint.js';
import { readNote } from '../proof/note.js';
import { type ReadTile, rootAt } from '../proof/tiles.js';
import type { LogState } from '../storage/log-types.js';

export type Rewritten = 'store_behind' | 'forked';

interface Known {
  readonly size: number;
  readonly root: Buffer;
}

export class PublishedCheckpoint {
  private known: Known | null = null;

  constructor(private readonly path: string) {
    this.readFile();
  }

  get size(): number {
    return this.known?.size ?? 0;
  }

  /** Whether the log in the store continues what was published; otherwise how it does not. */
  async compare({ size, root }: LogState, readTile: ReadTile): Promise<Rewritten | null> {
    this.readFile();
    const { known } = this;
    if (known === null || known.size === 0) return null;
    if (size < known.size) return 'store_behind';
    const then = size === known.size ? root : await rootAt(readTile, known.size);
    return then.equals(known.root) ? null : 'forked';
  }

  /** Called once the checkpoint is in the store, where everybody can read it. A folder that cannot be written is no reason to stop. */
  remember(checkpoint: string): void {
    const read = checkpointIn(checkpoint);
    if (read === null || read.size <= this.size) return;
    this.known = read;
    try {
      const temporary = `${this.path}.${process.pid}`;
      writeFileSync(temporary, checkpoint, { mode: 0o600 });
      renameSync(temporary, this.path);
    } catch {}
  }

  /** Another process of this machine may have written a newer one. */
  private readFile(): void {
    let text = '';
    try {
      text = readFileSync(this.path, 'utf8');
    } catch {
      return;
    }
    const read = checkpointIn(text);
    if (read !== null && read.size > this.size) this.known = read;
  }
}

function checkpointIn(text: string): Known | null {
  const note = readNote(text);
  return note && readCheckpoint(note.text);
}
