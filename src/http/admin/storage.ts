/** `GET /admin/v1/storage/check` and `POST /admin/v1/storage/prune`: whether all sums agree, and removing old records. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { actorOf } from './audit.js';
import { bodyFields } from './fields.js';

export const pruneFields = z.strictObject({
  dry_run: z.boolean().nullish().meta({ description: 'Only say what would go.' }),
});

export function registerStorage(app: FastifyInstance, deps: HttpDeps): void {
  const { store, journal, clock, audit, retention } = deps;

  app.get('/storage/check', async () => {
    await journal.settled(settledWaitMs);
    const { accounts, generations, faults } = await store.records.check();
    return { object: 'storage_check', ok: faults.length === 0, accounts, generations, faults };
  });

  app.post('/storage/prune', async (request) => {
    const { dry_run } = bodyFields(request, pruneFields);
    await journal.settled(settledWaitMs);
    const months = retention === null ? [] : await store.records.prunable(retention.cutOff(clock.now()));
    if (!dry_run) {
      for (const month of months) await store.records.prune(month);
      if (months.length > 0)
        await audit.record(actorOf(request), 'storage.prune', 'generations', { months: months.length });
    }
    return {
      object: 'storage_prune',
      dry_run: dry_run === true,
      retention: retention?.text ?? null,
      months: months.map(({ monthMs, accounts, requests }) => ({
        month: new Date(monthMs).toISOString().slice(0, 7),
        accounts,
        requests,
      })),
    };
  });
}
