/** What the settler knows of one stream: how far it is settled, what of it waits, and who is told. */
import type { JournalOffset } from '../domain/settlement-row.js';
import type { Progress } from './settler-port.js';
import type { Source, Waiting } from './source.js';

/** What happened in a stream. */
export interface Counts {
  setAside: number;
  damaged: number;
  estimated: number;
}

export const noCounts = (): Counts => ({ setAside: 0, damaged: 0, estimated: 0 });

export function addCounts(to: Counts, from: Counts): void {
  to.setAside += from.setAside;
  to.damaged += from.damaged;
  to.estimated += from.estimated;
}

export class Stream {
  /** null until the store has said how far it is settled. */
  source: Source | null = null;
  /** Its process writes no more. */
  hasEnded = false;
  /** Up to here somebody waits for it. */
  wanted = 0;
  settled = 0;
  records = 0;
  /** The number of its records that were read and wait. */
  waiting = 0;
  /** Records that the store refused and that could not be set aside. They keep their files. */
  held: Waiting[] = [];
  /** Everything of it is settled, and the disk does not delete its files. */
  isKept = false;
  readonly counts = noCounts();
  #listener: ((progress: Progress) => void) | null = null;
  #told = '';

  constructor(
    readonly dir: string,
    /** null for files of earlier versions. */
    readonly run: string | null,
  ) {}

  /** null where no process is attached. */
  get listener(): ((progress: Progress) => void) | null {
    return this.#listener;
  }

  listenTo(listener: ((progress: Progress) => void) | null): void {
    this.#listener = listener;
    this.#told = '';
  }

  get isWanted(): boolean {
    return this.wanted > this.settled || (this.hasEnded && this.listener !== null);
  }

  /** Everything of it is settled, and nothing follows. */
  get isDone(): boolean {
    if (this.source?.isOver !== true || this.waiting > 0 || this.held.length > 0) return false;
    return this.source.needed >= this.source.position;
  }

  /** Records that need not be settled may stand at the end. */
  advance(): void {
    if (this.waiting === 0 && this.source) this.settled = Math.max(this.settled, this.source.position);
  }

  /** What the store notes with a batch whose last record of this stream ends at `position`. */
  offsetAt(position: number, records: number): JournalOffset | null {
    if (this.run === null) return null;
    const [held] = this.held;
    return {
      run: this.run,
      position: held ? Math.min(held.place, position) : position,
      records: this.records + records,
    };
  }

  tell(finished = false): void {
    if (!this.#listener) return;
    const { settled, records } = this;
    const needed = Math.min(settled, this.source?.needed ?? 0, this.held[0]?.place ?? settled);
    const progress: Progress = { settled, free: needed, records, ...this.counts, finished };
    const text = Object.values(progress).join();
    if (text === this.#told) return;
    this.#told = text;
    this.#listener(progress);
  }
}
