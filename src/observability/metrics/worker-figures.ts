/**
 * What the workers of one machine have told of themselves, kept where all of them are known, so that one scrape covers all. A
 * counter never falls: what a worker that ended had counted, as far as it was told, stays in the sum, and one that does not answer in
 * time is counted as it last answered. Gauges are only of those that answer.
 */
import { countersOf, type Figures, mergeFigures } from './figures.js';

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
