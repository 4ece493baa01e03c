/** `GET /v1/activity` and `GET /admin/v1/activity`: requests, errors, tokens and cost by interval and group, and in all. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { usdText } from '../../base/money.js';
import { startOfUtcDay, utcDay } from '../../base/time.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ActivityFigures, ActivityGroup, ActivityQuery } from '../../storage/store.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { queryChoice, queryInstant, queryText } from '../query.js';
import { projectScope, settledWaitMs } from './generations.js';

export const ownGroups = ['key', 'project', 'holder', 'end_user', 'model', 'provider', 'locode', 'status'] as const;
export const operatorGroups = [...ownGroups, 'account'] as const;
const intervals = ['hour', 'day'] as const;
const defaultDays = 7;
/** More rows than this help nobody, and would have to be held in memory. */
const rowsMax = 100_000;
const hourMs = 3_600_000;
const hoursMax = 366 * 24;

export function registerActivity(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/v1/activity', (request) => activity(deps, request, accountOf(request).id, ownGroups));
}

/** All accounts, or the one that `account` names. */
export function registerAllActivity(app: FastifyInstance, deps: HttpDeps): void {
  app.get('/activity', (request) => activity(deps, request, queryText(request, 'account') ?? null, operatorGroups));
}

async function activity(
  deps: HttpDeps,
  request: FastifyRequest,
  accountId: string | null,
  groups: readonly ActivityGroup[],
) {
  const people = { holder: queryText(request, 'holder'), endUser: queryText(request, 'end_user') };
  const query = {
    ...{ accountId, ...periodOf(deps, request), groupBy: queryChoice(request, 'group_by', groups) ?? null },
    ...{ projects: projectScope(request), ...people },
  };
  await deps.journal.settled(settledWaitMs);
  const { rows, total } = await deps.store.usage.activity(query);
  if (rows.length > rowsMax) {
    const reason = `asks for ${rows.length} rows, but at most ${rowsMax} are answered: shorten the period, or use interval=day`;
    throw gatewayError('field_invalid', { param: 'from', reason });
  }
  return {
    object: 'list',
    data: rows.map(({ startMs, group, ...figures }) => ({
      interval: new Date(startMs).toISOString(),
      group,
      ...figuresJson(figures),
    })),
    total: figuresJson(total),
  };
}

function periodOf({ clock }: HttpDeps, request: FastifyRequest): Pick<ActivityQuery, 'fromMs' | 'toMs' | 'interval'> {
  const interval = queryChoice(request, 'interval', intervals) ?? 'day';
  const now = clock.now();
  const toMs = queryInstant(request, 'to') ?? startOfUtcDay(utcDay(now) + 1);
  const fromMs = queryInstant(request, 'from') ?? startOfUtcDay(utcDay(toMs - 1) - defaultDays + 1);
  if (fromMs > toMs) throw gatewayError('field_invalid', { param: 'from', reason: 'must not be later than `to`' });
  if (interval === 'hour' && toMs - fromMs > hoursMax * hourMs) {
    const reason = 'must be at most 366 days before `to` with interval=hour; shorten the period, or use interval=day';
    throw gatewayError('field_invalid', { param: 'from', reason });
  }
  return { fromMs, toMs, interval };
}

function figuresJson(figures: ActivityFigures) {
  return {
    requests: figures.requests,
    errors: figures.errors,
    prompt_tokens: figures.promptTokens,
    completion_tokens: figures.completionTokens,
    cached_tokens: figures.cachedTokens,
    cost_usd: usdText(figures.costPico),
    first_byte_ms: { p50: figures.firstByteP50Ms, p95: figures.firstByteP95Ms },
    tokens_per_second: { p50: figures.tokensPerSecondP50 },
  };
}
