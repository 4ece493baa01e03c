/** A worker's part in a scrape: asks the primary for the figures of the other workers, and tells its own when it is asked. */
import type { Figures } from '../../observability/metrics/figures.js';
import type { FromWorker, ToWorker } from './messages.js';

/** The primary itself waits a second for the others. */
const waitMs = 1_500;

export class Siblings {
  readonly #asks = new Map<number, (siblings: Figures[]) => void>();
  #lastAsk = 0;

  constructor(private readonly say: (message: FromWorker) => Promise<void>) {}

  /** Nothing where the primary does not answer: the scrape then tells of this process alone. */
  readonly ask = (own: Figures): Promise<Figures[]> => {
    const ask = ++this.#lastAsk;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#answered(ask, []), waitMs);
      this.#asks.set(ask, (siblings) => {
        clearTimeout(timer);
        resolve(siblings);
      });
      void this.say({ type: 'siblings', ask, figures: own });
    });
  };

  heard(message: ToWorker, own: () => Figures): void {
    if (message.type === 'siblings') this.#answered(message.ask, message.siblings);
    if (message.type === 'figures') void this.say({ type: 'figures', round: message.round, figures: own() });
  }

  #answered(ask: number, siblings: Figures[]): void {
    this.#asks.get(ask)?.(siblings);
    this.#asks.delete(ask);
  }
}
