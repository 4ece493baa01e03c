/**
 * Collects the figures of all workers for the one that is being scraped. The primary asks the others and waits for a second. A worker
 * that does not answer counts as missing, with the counters that it last sent.
 */
import { countersOf, type Figures, mergeFigures } from '../../observability/metrics/figures.js';
import type { ToWorker } from './messages.js';

interface AskedSeat {
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

  /** Starts a round for a worker that is being scraped. `own` are its own figures. */
  ask(worker: number, ask: number, own: Figures): void {
    this.#figures.set(worker, own);
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
    for (const seat of others) seat.send({ type: 'ask_figures', round });
    if (waitsFor.size === 0) end();
  }

  /** Takes the figures of a worker. They are kept even if they arrive too late for their round. */
  receive(worker: number, round: number, figures: Figures): void {
    this.#figures.set(worker, figures);
    this.#finish(worker, round);
  }

  /** The process has ended, so no round waits for it. */
  remove(worker: number): void {
    this.#figures.remove(worker);
    for (const round of [...this.#rounds.keys()]) this.#finish(worker, round);
  }

  #finish(worker: number, number: number): void {
    const round = this.#rounds.get(number);
    if (round?.waitsFor.delete(worker) && round.waitsFor.size === 0) round.end();
  }

  #seat(worker: number): AskedSeat | undefined {
    return this.seats().find(({ number }) => number === worker);
  }
}

/**
 * The last known figures of every worker. Counters never fall: those of a worker that ended stay in the sum, and a worker that does not
 * answer in time counts as it last answered. Gauges cover only the workers that answer.
 */
export class WorkerFigures {
  private readonly last = new Map<number, Figures>();
  private past: Figures = {};

  set(worker: number, figures: Figures): void {
    this.last.set(worker, figures);
  }

  remove(worker: number): void {
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
