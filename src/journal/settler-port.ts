/**
 * Between a process that serves and the settler of its data directory, which may be in the same process or in another. A position is a
 * number of bytes from the beginning of a journal's stream.
 */

/** One process's stream of records. */
export interface RunPlace {
  /** The directory of its files. */
  readonly dir: string;
  /** The name of the stream. */
  readonly run: string;
}

export interface Progress {
  /** Everything before it is in the store or set aside. */
  readonly settled: number;
  /** Files before it are not needed any more. A provisional record keeps its file until a final one replaces it. */
  readonly free: number;
  /** How many records have left the journal. */
  readonly records: number;
  readonly setAside: number;
  readonly damaged: number;
  /** Bills of earlier processes that are a lower bound. */
  readonly estimated: number;
  /** The stream has ended, and nothing of it is left. */
  readonly finished: boolean;
}

export const noProgress: Progress = {
  ...{ settled: 0, free: 0, records: 0, setAside: 0, damaged: 0, estimated: 0, finished: false },
};

export interface Attachment {
  /** Somebody waits for the records before this position. */
  hurry(position: number): void;
  /** No record will follow: provisional ones are final now. */
  end(): void;
  /** The process is about to give up its journal. */
  detach(): void;
}

export interface SettlerPort {
  attach(place: RunPlace, progressed: (progress: Progress) => void): Attachment;
  /** True when everything that processes left which are gone is in the store; false where that takes longer. Never rejects. */
  replayed(timeoutMs: number): Promise<boolean>;
  /** Since when no settler has been reached, in monotonic milliseconds; null where there is one. */
  readonly awaySince: number | null;
}
