/** `GET /v1/activity` and `GET /admin/v1/activity`: requests, errors, tokens and cost by interval and group, and in all. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { usdText } from '../../base/money.js';
import { startOfUtcDay, utcDay } from '../../base/time.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ActivityFigures, ActivityGroup, ActivityQuery } from '../../storage/store.js';
import { accountOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record, resource } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { queryChoice, queryInstant, queryText } from '../query.js';
import { projectScope, settledWaitMs } from './generations.js';

const ownGroups = ['key', 'project', 'holder', 'end_user', 'model', 'provider', 'locode', 'status'] as const;
const operatorGroups = [...ownGroups, 'account'] as const;
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

const shownFigures = {
  requests: s.integer('Requests.'),
  errors: s.integer('Requests that failed, or whose stream did not complete.'),
  prompt_tokens: s.integer('Tokens of the requests.'),
  completion_tokens: s.integer('Tokens of the answers.'),
  cached_tokens: s.integer('Of the prompts, what came from a cache.'),
  cost_usd: s.usd('What they cost.'),
  first_byte_ms: s.objectOf('Milliseconds to the first byte, to within a twentieth; null where there was none.', {
    p50: s.numberOrNull('The median.'),
    p95: s.numberOrNull('The 95th percentile.'),
  }),
  tokens_per_second: s.objectOf('Tokens of the answer by the time of the request, to within a twentieth.', {
    p50: s.numberOrNull('The median.'),
  }),
};

const row = record('Activity', {
  interval: s.time('When the interval begins.'),
  group: s.textOrNull(
    'The key’s name, the id of the project or of the person who held the key, the end user, `{creator}/{model}`, provider, locode, status or account id; null where there is none.',
  ),
  ...shownFigures,
});

/** Of sums and of the export. */
export const recordFilters = [
  s.query('project', 'Only requests of the project with this id.'),
  s.query('holder', 'Only requests with keys that this person held.'),
  s.query('end_user', 'Only requests for this end user.'),
];

const someDay = { example: '2026-03-01' };
const parametersOf = (groups: readonly string[]) => [
  s.query('from', 'RFC 3339 or a date, UTC; included. Without it, 7 days before `to`.', s.instant, someDay),
  s.query('to', 'RFC 3339 or a date, UTC; not included. Without it, the end of today.', s.instant, someDay),
  s.query('interval', 'What a row covers.', { type: 'string', enum: [...intervals] }),
  s.query('group_by', 'Without it, there is one row an interval.', { type: 'string', enum: [...groups] }),
  ...recordFilters,
];
const answers = list(row, 'The sums.', { total: s.objectOf('Of the whole period.', shownFigures) });

const about = 'Requests, errors, tokens and cost over time. The rows add up to the total.';
export const activityResource = resource('Activity', about, 'key', {
  'GET /v1/activity': operation('getActivity', 'Sum up usage', {
    description: 'Requests of the account by hour or day, in groups. Sums of the rows equal the total.',
    parameters: parametersOf(ownGroups),
    answers,
  }),
});

export const allActivityOperation = operation('getAllActivity', 'Sum up the usage of all accounts', {
  parameters: [...parametersOf(operatorGroups), s.query('account', 'Only this account.')],
  answers,
});
