/**
 * Finds the streams in the directories of a data directory. A stream whose process is attached is read while it is written. One whose
 * process is gone is read to its end. One whose process may live and is not attached is left alone.
 */
import { basename, join } from 'node:path';
import { lockState } from '../base/lock.js';
import type { Logger } from '../base/logger.js';
import type { JournalOffset } from '../domain/settlement-row.js';
import { LineTail } from './line-tail.js';
import { type BinarySegment, binarySegment, holdsLines, segmentsIn } from './segment-names.js';
import type { SetAsideFile } from './set-aside.js';
import type { Progress, RunPlace } from './settler-port.js';
import type { SourceEvents } from './source.js';
import { Stream } from './stream.js';
import { Tail } from './tail.js';

interface StreamsOptions {
  /** The directories that may hold journals. */
  dirs: () => readonly string[];
  /** How far a stream is settled; null where the store knows nothing of it. Throws StoreUnavailable. */
  offset: (run: string) => Promise<JournalOffset | null>;
  asideIn: (dir: string) => SetAsideFile;
  logger: Logger;
}

export class Streams {
  readonly #all = new Map<string, Stream>();
  readonly #reported = new Set<string>();
  /** Directories that cannot be read, or whose files another version left. */
  readonly #faulty = new Set<string>();

  constructor(private readonly options: StreamsOptions) {}

  get all(): readonly Stream[] {
    return [...this.#all.values()];
  }

  /** Whether nothing is left of processes that are gone. */
  get isReplayed(): boolean {
    return (
      this.#faulty.size === 0 &&
      !this.all.some(({ hasEnded, listener, isKept }) => hasEnded && !isKept && listener === null)
    );
  }

  attach({ dir, run }: RunPlace, listener: (progress: Progress) => void): Stream {
    const stream = this.#all.get(keyOf(dir, run)) ?? new Stream(dir, run);
    stream.listenTo(listener);
    this.#all.set(keyOf(dir, run), stream);
    return stream;
  }

  remove(stream: Stream): void {
    this.#all.delete(keyOf(stream.dir, stream.run));
  }

  /** Looks which files there are now. */
  async readNew(): Promise<void> {
    const dirs = new Set([...this.options.dirs(), ...this.all.map(({ dir }) => dir)]);
    for (const dir of dirs) {
      try {
        await this.#lookIn(dir, segmentsIn(dir));
        this.#faulty.delete(dir);
      } catch (error) {
        if (!isPlainFault(error)) throw error;
        this.#faulty.add(dir);
        this.#reportOnce(dir, String(error));
      }
    }
  }

  async #lookIn(dir: string, names: readonly string[]): Promise<void> {
    const runs = new Map<string, BinarySegment[]>();
    for (const name of names) {
      const segment = binarySegment(dir, name);
      if (segment) runs.set(segment.run, [...(runs.get(segment.run) ?? []), segment]);
    }
    const lines = names.filter(holdsLines);
    const known = this.all.filter((stream) => stream.dir === dir);
    const strangers = [...runs.keys()].filter((run) => !known.some((stream) => stream.run === run && stream.listener));
    const hasLines = lines.length > 0 && !known.some(({ run }) => run === null);
    // After the list was made: a process that begins now has no file in it.
    if ((strangers.length > 0 || hasLines) && (await this.#isAbandoned(dir, known))) {
      for (const run of strangers) this.#abandoned(dir, run).hasEnded = true;
      if (hasLines) this.#openLines(dir, lines);
    }
    for (const stream of this.all) {
      if (stream.dir !== dir || stream.run === null) continue;
      await this.#follow(stream, stream.run, runs.get(stream.run) ?? []);
    }
  }

  /** Whether streams that nobody is attached to belong to processes that are gone. */
  async #isAbandoned(dir: string, known: readonly Stream[]): Promise<boolean> {
    // The process that is attached holds the directory, so no other does.
    if (known.some(({ listener }) => listener !== null)) return true;
    const state = await lockState(join(dir, 'lock'));
    if (state === 'unknown')
      this.#reportOnce(dir, 'its process may or may not be running: it cannot be seen from here; it is left alone');
    return state === 'free';
  }

  #abandoned(dir: string, run: string): Stream {
    const stream = this.#all.get(keyOf(dir, run)) ?? new Stream(dir, run);
    this.#all.set(keyOf(dir, run), stream);
    return stream;
  }

  #openLines(dir: string, names: readonly string[]): void {
    const stream = new Stream(dir, null);
    this.#all.set(keyOf(dir, null), stream);
    stream.hasEnded = true;
    const files = names.map((name) => join(dir, name));
    stream.source = new LineTail(dir, files, {
      ...this.#events(stream),
      unreadable: (line, error) => this.options.asideIn(dir).add(line, error),
      torn: (file) =>
        this.options.logger.warn({ file }, 'the journal ends in a record that was cut short; it is skipped'),
    });
  }

  async #follow(stream: Stream, run: string, segments: readonly BinarySegment[]): Promise<void> {
    if (!stream.source) {
      const { position = 0, records = 0 } = (await this.options.offset(run)) ?? {};
      stream.settled = position;
      stream.records = records;
      stream.source = new Tail(stream.dir, run, position, this.#events(stream));
    }
    const tail = stream.source as Tail;
    tail.update(segments);
    if (stream.hasEnded) tail.end();
  }

  #events({ counts, dir }: Stream): SourceEvents {
    const { logger, asideIn } = this.options;
    return {
      damaged: (file, start, end) => {
        counts.damaged++;
        const bytes = end - start;
        logger.error(
          { journal: basename(dir), file, position: start, bytes },
          'a part of the journal is damaged; the records after it are settled',
        );
      },
      unknown: (frame, reason) => {
        const text = `${reason}: was it written by a later version? The record is its frame, as base64`;
        if (!asideIn(dir).add(frame.toString('base64'), text)) return false;
        counts.setAside++;
        return true;
      },
      estimated: (count) => {
        counts.estimated += count;
      },
    };
  }

  #reportOnce(dir: string, reason: string): void {
    if (this.#reported.has(dir)) return;
    this.#reported.add(dir);
    this.options.logger.error({ dir, reason }, 'a journal cannot be settled');
  }
}

const keyOf = (dir: string, run: string | null): string => `${dir}/${run ?? ''}`;

/** Of the directory itself; a store that is away is not. */
function isPlainFault(error: unknown): boolean {
  return (error as Error)?.name !== 'StoreUnavailable';
}
