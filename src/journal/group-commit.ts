/**
 * Group commit: one write brings the records of one turn of the event loop into the file, and only then the answers that wait
 * for it send their last bytes, in the order of their records.
 */
import type { Logger } from '../base/logger.js';
import { atEndOfTurn } from '../base/turn.js';
import type { Generation } from '../domain/generation.js';
import type { JournalRecords } from './journal-records.js';

export class GroupCommit {
  #due: (() => void)[] = [];
  #scheduled = false;

  constructor(
    private readonly records: JournalRecords,
    private readonly logger: Logger,
  ) {}

  append(generation: Generation, whenWritten?: () => void): void {
    this.records.append(generation);
    if (whenWritten) this.#due.push(whenWritten);
    if (this.#scheduled) return;
    this.#scheduled = true;
    atEndOfTurn('records', this.#endOfTurn);
  }

  /** Does at once what the end of the turn would do. */
  flush(): void {
    this.records.write();
    if (this.#due.length === 0) return;
    const due = this.#due;
    // A callback may append again.
    this.#due = [];
    for (const whenWritten of due) this.#run(whenWritten);
  }

  readonly #endOfTurn = (): void => {
    this.#scheduled = false;
    this.flush();
  };

  #run(whenWritten: () => void): void {
    try {
      whenWritten();
    } catch (error) {
      this.logger.error({ error: String(error) }, 'an answer failed after its record was written');
    }
  }
}
