/** `GET overview`: spend, requests, errors, first-byte latency and carbon over time, and where requests were served. */
import type { FastifyInstance } from 'fastify';
import { usdText } from '../../base/money.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryText } from '../query.js';
import { type Figures, UsageFigures } from './usage-figures.js';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const ranges: Record<string, { stepMs: number; steps: number }> = {
  '24h': { stepMs: hourMs, steps: 24 },
  '7d': { stepMs: 6 * hourMs, steps: 28 },
  '30d': { stepMs: dayMs, steps: 30 },
  '90d': { stepMs: dayMs, steps: 90 },
};
const defaultRange = '7d';

export function registerOverview(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/overview', async (request) => {
    const range = queryText(request, 'range') ?? defaultRange;
    const shape = Object.hasOwn(ranges, range) ? ranges[range] : undefined;
    if (!shape) {
      const reason = `must be one of ${Object.keys(ranges).join(', ')}`;
      throw gatewayError('field_invalid', { param: 'range', reason });
    }
    const account = accountOf(request);
    const { stepMs, steps } = shape;
    const lengthMs = stepMs * steps;
    const nowMs = deps.clock.now();
    // Steps are those of the clock (UTC days, whole hours); the last one is the one that is under way.
    const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
    const fromMs = toMs - lengthMs;
    await deps.journal.settled(settledWaitMs);
    const accountId = account.id;
    const [rows, before] = await Promise.all([
      deps.store.usage.summary({ accountId, fromMs, toMs, stepMs }),
      // As long as the period is by now, so that the two can be compared.
      deps.store.usage.summary({ accountId, fromMs: fromMs - lengthMs, toMs: nowMs - lengthMs, stepMs: lengthMs }),
    ]);
    const { current: snapshot } = deps.catalogue;
    const figures = new UsageFigures(rows, snapshot);
    return {
      range,
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      step_seconds: stepMs / 1000,
      totals: figures.period(),
      previous: new UsageFigures(before, snapshot).period(),
      series: Array.from({ length: steps }, (_, step) => ({
        at: new Date(fromMs + step * stepMs).toISOString(),
        ...withoutTokenKinds(figures.step(step)),
      })),
      by_model: figures.parts('model', (id) => ({ name: snapshot?.models.get(id)?.name ?? id })),
      by_provider: figures.parts('provider', (id) => ({ name: snapshot?.providers.get(id)?.name ?? id })),
      by_region: figures.parts('region', (locode) => {
        const region = snapshot?.regions.get(locode);
        const { city = null, country = null, lat = null, lon = null } = region ?? {};
        return { city, country, lat, lon, grid_carbon: region?.carbon ?? null };
      }),
      balance_usd: usdText(account.balancePico),
    };
  });
}

function withoutTokenKinds({ prompt_tokens: _, completion_tokens: __, ...rest }: Figures) {
  return rest;
}
