/**
 * The primary's part in a scrape that one worker answers for all: it asks the others for their figures and gives the one that asked
 * what they told within a second. A worker that does not answer is counted as missing, and by what it last told.
 */
import { countersOf, type Figures, mergeFigures } from '../../observability/metrics/figures.js';
import type { ToWorker } from './messages.js';

export interface AskedSeat {
  readonly number: number;
  readonly isServing: boolean;
  send(message: ToWorker): void;
}

interface Round {
  readonly waitsFor: Set<number>;
  end(): void;
}

export class FiguresExchange {
  readonly #figures = new WorkerFigures();
  readonly #rounds = new Map<number, Round>();
  #lastRound = 0;

  constructor(
    private readonly seats: () => readonly AskedSeat[],
    private readonly waitMs = 1_000,
  ) {}

  /** A worker is being scraped, and tells its own figures with its question. */
  asked(worker: number, ask: number, own: Figures): void {
    this.#figures.told(worker, own);
    const others = this.seats().filter(({ number, isServing }) => isServing && number !== worker);
    const round = ++this.#lastRound;
    const waitsFor = new Set(others.map(({ number }) => number));
    const end = () => {
      clearTimeout(timer);
      this.#rounds.delete(round);
      const siblings = this.#figures.siblingsOf(worker, waitsFor);
      this.#seat(worker)?.send({ type: 'siblings', ask, siblings });
    };
    const timer = setTimeout(end, this.waitMs);
    this.#rounds.set(round, { waitsFor, end });
    for (const seat of others) seat.send({ type: 'figures', round });
    if (waitsFor.size === 0) end();
  }

  /** An answer that comes too late for its round still is the newest that is known of the worker. */
  told(worker: number, round: number, figures: Figures): void {
    this.#figures.told(worker, figures);
    this.#heard(worker, round);
  }

  /** Its process is gone; nobody waits for it any longer. */
  ended(worker: number): void {
    this.#figures.ended(worker);
    for (const round of [...this.#rounds.keys()]) this.#heard(worker, round);
  }

  #heard(worker: number, number: number): void {
    const round = this.#rounds.get(number);
    if (round?.waitsFor.delete(worker) && round.waitsFor.size === 0) round.end();
  }

  #seat(worker: number): AskedSeat | undefined {
    return this.seats().find(({ number }) => number === worker);
  }
}

// * What the workers of one machine have told of themselves, kept where all of them are known, so that one scrape covers all. A
// counter never falls: what a worker that ended had counted, as far as it was told, stays in the sum, and one that does not answer in
// time is counted as it last answered. Gauges are only of those that answer.

export class WorkerFigures {
  private readonly last = new Map<number, Figures>();
  private past: Figures = {};

  told(worker: number, figures: Figures): void {
    this.last.set(worker, figures);
  }

  ended(worker: number): void {
    const figures = this.last.get(worker);
    if (!figures) return;
    this.last.delete(worker);
    this.past = mergeFigures([this.past, countersOf(figures)]);
  }

  /** The figures of all but `asking`, of which `silent` have not answered. */
  siblingsOf(asking: number, silent: ReadonlySet<number>): Figures[] {
    const others = [...this.last].filter(([worker]) => worker !== asking);
    return [
      { ...this.past, lodestone_workers_missing: [{ labels: [], value: silent.size }] },
      ...others.map(([worker, figures]) => (silent.has(worker) ? countersOf(figures) : figures)),
    ];
  }
}
