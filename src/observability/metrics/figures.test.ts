import { describe, expect, it } from 'vitest';
import { WorkerFigures } from '../../app/workers/figures-exchange.js';
import { countersOf, type Figures, mergeFigures } from './figures.js';

const of = (value: number, ...labels: string[]) => [{ labels, value }];

describe('the figures of several processes', () => {
  it('add up counters and histograms by their labels, and keep what only one has', () => {
    const one: Figures = {
      lodestone_attempts_total: [...of(2, 'a', 'served'), ...of(1, 'a', 'timeout')],
      lodestone_chat_first_byte_seconds: [{ labels: ['true'], value: 1.5, counts: [1, 2, 0] }],
    };
    const other: Figures = {
      lodestone_attempts_total: [...of(3, 'a', 'served'), ...of(5, 'b', 'served')],
      lodestone_chat_first_byte_seconds: [{ labels: ['true'], value: 0.5, counts: [0, 1, 4] }],
    };
    expect(mergeFigures([one, other])).toEqual({
      lodestone_attempts_total: [...of(5, 'a', 'served'), ...of(1, 'a', 'timeout'), ...of(5, 'b', 'served')],
      lodestone_chat_first_byte_seconds: [{ labels: ['true'], value: 2, counts: [1, 3, 4] }],
    });
  });

  it('make of gauges what their definition says: a sum, the highest, or the lowest', () => {
    const figures = (open: number, lag: number, up: number): Figures => ({
      lodestone_open_streams: of(open),
      nodejs_eventloop_lag_p99_seconds: of(lag),
      lodestone_redis_up: of(up),
    });
    expect(mergeFigures([figures(3, 0.2, 1), figures(4, 0.1, 0)])).toEqual(figures(7, 0.2, 0));
  });

  it('survive the way to another process, and a name that is not known is left out', () => {
    const figures: Figures = { lodestone_workers: of(1) };
    const sent = JSON.parse(JSON.stringify({ ...figures, lodestone_of_tomorrow_total: of(9) })) as Figures;
    expect(mergeFigures([sent, figures])).toEqual({ lodestone_workers: of(2) });
  });
});

describe('what a primary keeps of its workers', () => {
  const figuresWith = (served: number, open: number): Figures => ({
    lodestone_served_total: of(served, 'a', 'false', 'complete'),
    lodestone_open_streams: of(open),
  });
  const seen = (workers: WorkerFigures, silent: number[] = []) =>
    mergeFigures([figuresWith(10, 1), ...workers.siblingsOf(1, new Set(silent))]);

  it('lets no counter fall when a worker dies, and drops its gauges', () => {
    const workers = new WorkerFigures();
    workers.set(1, figuresWith(10, 1));
    workers.set(2, figuresWith(7, 2));
    expect(seen(workers)).toMatchObject(figuresWith(17, 3));
    workers.remove(2);
    expect(seen(workers)).toMatchObject(figuresWith(17, 1));
    workers.set(2, figuresWith(1, 1));
    expect(seen(workers)).toMatchObject(figuresWith(18, 2));
  });

  it('counts a worker that is silent as missing, with the counters that it reported last', () => {
    const workers = new WorkerFigures();
    workers.set(2, figuresWith(7, 2));
    expect(seen(workers, [2, 3])).toMatchObject({ ...figuresWith(17, 1), lodestone_workers_missing: of(2) });
  });

  it('knows counters from gauges by the table', () => {
    expect(countersOf(figuresWith(7, 2))).toEqual({ lodestone_served_total: of(7, 'a', 'false', 'complete') });
  });
});
