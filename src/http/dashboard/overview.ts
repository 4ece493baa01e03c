/** `GET overview`: spend, requests, errors, first-byte latency and carbon over time, and where requests were served. */
import type { FastifyInstance } from 'fastify';
import { mayDo } from '../../accounts/roles.js';
import { usdText } from '../../base/money.js';
import type { Snapshot } from '../../catalogue/route.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { UsageGroup, UsageRow } from '../../storage/store.js';
import { projectScope, settledWaitMs } from '../api/generations.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryText } from '../query.js';
import { standingOf } from '../rights.js';
import { intensitiesOf } from './report-figures.js';

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
    // Steps start at whole hours or UTC days. The last step is not over yet.
    const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
    const fromMs = toMs - lengthMs;
    await deps.journal.settled(settledWaitMs);
    const { current: snapshot } = deps.catalogue;
    const projects = projectScope(request);
    const own = { accountId: account.id, intensities: intensitiesOf(snapshot), ...(projects && { projects }) };
    const [rows, before] = await Promise.all([
      deps.store.usage.summary({ ...own, fromMs, toMs, stepMs }),
      // As long as the current period so far, so that the two can be compared.
      deps.store.usage.summary({ ...own, fromMs: fromMs - lengthMs, toMs: nowMs - lengthMs, stepMs: lengthMs }),
    ]);
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
      by_model: figures.parts('model', (id) => ({ name: snapshot?.models.get(id)?.name ?? nameOf(id) })),
      by_provider: figures.parts('provider', (id) => ({ name: snapshot?.providers.get(id)?.name ?? nameOf(id) })),
      by_region: figures.parts('region', (locode) => {
        const region = snapshot?.regions.get(locode);
        const { city = null, country = null, lat = null, lon = null } = region ?? {};
        return { city, country, lat, lon, grid_carbon: region?.carbon ?? null };
      }),
      balance_usd: mayDo(standingOf(request), 'credits.read') ? usdText(account.balancePico) : null,
    };
  });
}

/** The id of the part with the requests that nobody served, so that the parts add up to the totals. No other id is empty. */
const notServed = '';
const nameOf = (id: string): string => (id === notServed ? 'Not served' : id);

function withoutTokenKinds({ prompt_tokens: _, completion_tokens: __, ...rest }: Figures) {
  return rest;
}

interface Figures {
  requests: number;
  errors: number;
  spend_usd: string;
  tokens: number;
  prompt_tokens: number;
  completion_tokens: number;
  first_byte_p50_ms: number | null;
  first_byte_p95_ms: number | null;
  carbon: number | null;
}

type Part = Extract<UsageGroup, 'model' | 'provider' | 'region'>;

/** The segments of a four-segment id that name a part. */
const partOf: Record<Part, (routeId: string) => string> = {
  model: (id) => id.split('/').slice(1, 3).join('/'),
  provider: (id) => id.split('/', 1)[0] ?? '',
  region: (id) => id.split('/')[3] ?? '',
};

/**
 * The figures of a summary for the charts. Carbon is the intensity of the grid where requests were served (gCO2e/kWh), weighted by
 * tokens, from today's catalogue. Nobody publishes the energy of a token, so no amount of carbon is derived.
 */
class UsageFigures {
  private readonly routes: readonly UsageRow[];

  constructor(
    private readonly rows: readonly UsageRow[],
    private readonly snapshot: Snapshot | null,
  ) {
    this.routes = rows.filter(({ group }) => group === 'route');
  }

  period(): Figures {
    const row = this.rows.find(({ group }) => group === 'period');
    return this.figures(row, this.routes);
  }

  step(step: number): Figures {
    const row = this.rows.find((candidate) => candidate.group === 'step' && candidate.step === step);
    return this.figures(
      row,
      this.rows.filter((candidate) => candidate.group === 'intensity' && candidate.step === step),
    );
  }

  /** Usage by model, provider or region, the most expensive first, then the most used. */
  parts<T extends object>(part: Part, describe: (id: string) => T) {
    const rows = this.rows.filter((row) => row.group === part);
    rows.sort((a, b) => (a.costPico === b.costPico ? b.requests - a.requests : a.costPico < b.costPico ? 1 : -1));
    return rows.map((row) => {
      const id = row.id ?? notServed;
      const routes = this.routes.filter((route) => route.id !== null && partOf[part](route.id) === id);
      const { requests, errors, spend_usd, tokens, first_byte_p50_ms, carbon } = this.figures(row, routes);
      return { id, ...describe(id), requests, errors, spend_usd, tokens, first_byte_p50_ms, carbon };
    });
  }

  private figures(row: UsageRow | undefined, routes: readonly UsageRow[]): Figures {
    const { promptTokens = 0, completionTokens = 0 } = row ?? {};
    return {
      requests: row?.requests ?? 0,
      errors: row?.errors ?? 0,
      spend_usd: usdText(row?.costPico ?? 0n),
      tokens: promptTokens + completionTokens,
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      first_byte_p50_ms: row?.firstByteP50Ms ?? null,
      first_byte_p95_ms: row?.firstByteP95Ms ?? null,
      carbon: this.carbonOf(routes),
    };
  }

  private carbonOf(routes: readonly UsageRow[]): number | null {
    let weight = 0;
    let sum = 0;
    for (const { group, id, promptTokens, completionTokens } of routes) {
      const carbon =
        id === null ? null : group === 'intensity' ? Number(id) : (this.snapshot?.routes.get(id)?.carbon ?? null);
      if (carbon === null) continue;
      weight += promptTokens + completionTokens;
      sum += carbon * (promptTokens + completionTokens);
    }
    return weight === 0 ? null : Math.round((sum / weight) * 10) / 10;
  }
}
