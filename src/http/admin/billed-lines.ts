/** What was billed for one provider on one day, by model and line of the bill: the gateway's side of a reconciliation. */
import type { FastifyInstance } from 'fastify';
import { usdText } from '../../base/money.js';
import { datePattern } from '../../base/time.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { settledWaitMs } from '../api/generations.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { queryText } from '../query.js';

const dayMs = 86_400_000;
const dayRule = new RegExp(datePattern);

export function registerBilledLines(app: FastifyInstance, { store, journal, catalogue }: HttpDeps): void {
  app.get('/billed-lines', async (request) => {
    const provider = queryText(request, 'provider');
    if (provider === undefined) throw gatewayError('field_invalid', { param: 'provider', reason: 'is missing' });
    const day = queryText(request, 'day') ?? '';
    const fromMs = dayRule.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
    if (!(fromMs >= 0))
      throw gatewayError('field_invalid', { param: 'day', reason: 'must be a date such as 2026-11-16' });
    const credential = queryText(request, 'credential') ?? 'operator';
    await journal.settled(settledWaitMs);
    const lines = await store.usage.billedLines({ provider, fromMs, toMs: fromMs + dayMs, credential });
    // The provider knows its own name of a model; a route that is gone has only ours.
    const modelOf = (routeId: string) => catalogue.current?.routes.get(routeId)?.upstreamModel ?? routeId.split('/')[2];
    const data = lines.map(({ routeId, name, count, costPico }) => ({
      ...{ day, route: routeId, model: modelOf(routeId) ?? routeId },
      ...{ name, count, cost_usd: usdText(costPico) },
    }));
    return { object: 'list', data };
  });
}

const billedLine = record('BilledLine', {
  day: s.text('The day, UTC.'),
  route: s.text('The four-segment id.'),
  model: s.text('The model as the provider names it.'),
  name: s.text('The line of the bill.'),
  count: s.integer('Tokens, calls or requests.'),
  cost_usd: s.usd('What it cost.'),
});

const someText = { type: 'string', minLength: 1, pattern: '^[^\\x00]+$' };
const required = { required: true } as const;
const someDay = { ...required, example: '2026-11-16' };
const whose = 'Of the operator’s credentials where it is left out; `own` of all of customers, or the id of one.';

export const billedLinesOperation = operation('listBilledLines', 'List what was billed for a provider on a day', {
  description:
    'By route and line of the bills, as in `cost_lines` of a generation. `requests` counts the answers, `unrecorded` those of versions that kept no lines. `lodestone reconcile` compares it with a provider’s usage export.',
  parameters: [
    s.query('provider', 'The provider.', someText, { ...required, example: 'sandbox' }),
    s.query('day', 'The day, UTC.', { ...someText, pattern: datePattern }, someDay),
    s.query('credential', whose, someText, required),
  ],
  answers: list(billedLine, 'The lines.'),
});
