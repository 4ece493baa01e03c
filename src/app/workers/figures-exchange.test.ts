import { expect, it } from 'vitest';
import { type Figures, mergeFigures } from '../../observability/metrics/figures.js';
import { FiguresExchange } from './figures-exchange.js';
import type { FiguresMessage, ToWorker } from './messages.js';
import { Siblings } from './worker.js';

const figuresOf = (served: number): Figures => ({
  lodestone_served_total: [{ labels: ['a', 'false', 'complete'], value: served }],
  lodestone_workers: [{ labels: [], value: 1 }],
});

/** A primary with workers that answer, or do not, without a process between them. */
function machine(workers: { served: number; silent?: boolean }[], waitMs = 30) {
  const siblings: Siblings[] = [];
  const exchange: FiguresExchange = new FiguresExchange(
    () =>
      workers.map(({ served, silent }, index) => ({
        number: index + 1,
        isServing: true,
        send: (message: ToWorker) => {
          if (!silent) siblings[index]!.receive(message, () => figuresOf(served));
        },
      })),
    waitMs,
  );
  workers.forEach((_, index) => {
    siblings.push(
      new Siblings((said) => {
        const message = said as FiguresMessage;
        if (message.type === 'ask_siblings') exchange.ask(index + 1, message.ask, message.figures);
        else exchange.receive(index + 1, message.round, message.figures);
      }),
    );
  });
  const scrape = async (worker: number) => {
    const own = figuresOf(workers[worker - 1]!.served);
    const all = mergeFigures([own, ...(await siblings[worker - 1]!.ask(own))]);
    const value = (name: keyof Figures) => all[name]?.[0]?.value;
    return [value('lodestone_served_total'), value('lodestone_workers'), value('lodestone_workers_missing')];
  };
  return { workers, exchange, scrape };
}

it('a scrape of any worker covers all of them', async () => {
  const { scrape } = machine([{ served: 5 }, { served: 7 }, { served: 11 }]);
  expect(await Promise.all([scrape(1), scrape(2), scrape(3)])).toEqual([
    [23, 3, 0],
    [23, 3, 0],
    [23, 3, 0],
  ]);
});

it('a worker that does not answer in time is missing, and its counters stay as it last sent them', async () => {
  const { scrape, workers } = machine([{ served: 5 }, { served: 7 }]);
  await scrape(1);
  workers[1]!.silent = true;
  expect(await scrape(1)).toEqual([12, 1, 1]);
});

it('nobody waits for a worker that has ended', async () => {
  const { scrape, workers, exchange } = machine([{ served: 5 }, { served: 7 }], 60_000);
  await scrape(1);
  workers[1]!.silent = true;
  const scraped = scrape(1);
  exchange.remove(2);
  expect(await scraped).toEqual([12, 1, 0]);
});
