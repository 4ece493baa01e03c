/** `GET /admin/v1/storage/check` and `POST /admin/v1/storage/prune`: whether all sums agree, and removing old records. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { allActivityOperation } from '../api/activity.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { body, json, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { actorOf } from './audit.js';
import { exportOperations } from './export.js';
import { bodyFields } from './fields.js';

const pruneFields = z.strictObject({
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

const fault = record('StorageFault', {
  what: s.text('What was compared.'),
  where: s.text('The account, and the hour or the key.'),
  expected: s.text('What it must be.'),
  found: s.text('What it is.'),
});
const checked = {
  object: { const: 'storage_check' },
  ok: s.boolean('Everything agrees.'),
  accounts: s.integer('Accounts.'),
  generations: s.integer('Generations.'),
  faults: s.array(fault, 'What does not agree; at most 100 of a kind.'),
};
const pruned = {
  object: { const: 'storage_prune' },
  dry_run: s.boolean('Nothing was removed.'),
  retention: s.textOrNull('`storage.retention.generations`; null where everything is kept.'),
  months: s.objectsOf('The months that were or would be removed.', {
    month: s.text('The month.', { pattern: '^\\d{4}-\\d{2}$' }),
    accounts: s.integer('Accounts with requests in it.'),
    requests: s.integer('Its requests.'),
  }),
};

export const records = resource('Records', 'For operators: sums of all accounts, and the stored records.', 'admin', {
  'GET /admin/v1/activity': allActivityOperation,
  'GET /admin/v1/storage/check': operation('checkStorage', 'Check the stored records', {
    description: 'Compares balances, ledger, rollups and generations. It reads every row.',
    answers: json('What does not agree.', s.object(checked)),
  }),
  'POST /admin/v1/storage/prune': operation('pruneStorage', 'Remove generations that are older than the retention', {
    description:
      'Each month becomes one ledger entry of the kind `statement` for each account. Balances do not change.',
    body: body(pruneFields, { dry: ['Only say', { dry_run: true }] }),
    answers: json('The months.', s.object(pruned)),
  }),
  ...exportOperations,
});
