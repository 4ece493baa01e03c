/** Posts credit and lists the ledger of an account. Amounts are exact decimal text. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { amountSchema, parseUsd, usdText } from '../../base/money.js';
import type { LedgerEntry } from '../../domain/ledger-entry.js';
import { ledgerKinds } from '../../domain/ledger-entry.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { body, component, created, json, list, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { hasMore } from '../openapi/shared.js';
import { limitRule, queryNumber } from '../query.js';
import { accountNamed } from './accounts.js';
import { actorOf } from './audit.js';
import { bodyFields, personText } from './fields.js';

const newCredit = z.strictObject({
  amount_usd: z
    .string('must be a decimal amount as text, like "10.00"')
    .meta({ ...amountSchema, description: 'An exact decimal, like `10.00`; negative amounts debit.' }),
  note: personText(500).nullish(),
});

/** High, because only the whole ledger sums up to the balance. `has_more` is true where entries are missing. */
const ledgerLimit = limitRule(10_000, 100_000, 'How many entries, newest first.');

type WithId = { Params: { id: string } };

export function registerCreditsAndLedger(app: FastifyInstance, deps: HttpDeps): void {
  app.post<WithId>('/accounts/:id/credits', async (request, reply) => {
    const { amount_usd, note } = bodyFields(request, newCredit);
    const amountPico = parseUsd(amount_usd);
    if (amountPico === undefined || amountPico === 0n) throw notAnAmount(amount_usd);
    const { id } = await accountNamed(deps, request.params.id);
    const entry = await deps.directory.postCredit(actorOf(request), id, amountPico, note ?? null);
    return reply.code(201).send(ledgerEntryJson(entry));
  });

  app.get<WithId>('/accounts/:id/ledger', async (request) => {
    const limit = queryNumber(request, ledgerLimit);
    const { id } = await accountNamed(deps, request.params.id);
    await deps.journal.settled(settledWaitMs);
    const entries = await deps.store.ledger.list(id, limit + 1);
    return { object: 'list', data: entries.slice(0, limit).map(ledgerEntryJson), has_more: entries.length > limit };
  });
}

function notAnAmount(text: string) {
  const reason = `is ${JSON.stringify(text.slice(0, 50))}, but must be an amount like "10.00" or "-2.5", not zero, of at most twelve decimals`;
  return gatewayError('field_invalid', { param: 'amount_usd', reason });
}

export function ledgerEntryJson(entry: LedgerEntry) {
  return {
    id: entry.id,
    created_at: new Date(entry.createdAt).toISOString(),
    kind: entry.kind,
    amount_usd: usdText(entry.amountPico),
    balance_usd: usdText(entry.balancePico),
    generation_id: entry.generationId,
    note: entry.note,
  };
}

const ledgerEntry = record('LedgerEntry', {
  id: s.text('Its id.'),
  created_at: s.time('When it was posted.'),
  kind: s.oneOfValues(ledgerKinds, 'What it is. A `statement` is the usage of a month whose generations were removed.'),
  amount_usd: s.usd('Negative for usage.'),
  balance_usd: s.usd('The balance after it.'),
  generation_id: s.textOrNull('The generation that was paid with it.'),
  note: s.textOrNull('A note.'),
});

export const adminCredits = resource('Credits', 'For operators: the ledger, whose sum is the balance.', 'admin', {
  'POST /admin/v1/accounts/{id}/credits': operation('postCredit', 'Credit or debit an account', {
    body: body(component('NewCredit', newCredit), {
      credit: ['Ten dollars', { amount_usd: '10.00', note: 'Welcome' }],
    }),
    answers: created(json('The ledger entry.', ledgerEntry)),
  }),
  'GET /admin/v1/accounts/{id}/ledger': operation('getLedger', 'Get the ledger', {
    parameters: [s.numberParameter(ledgerLimit)],
    answers: list(ledgerEntry, 'The entries.', hasMore),
  }),
});
