/** `/api/v1` for clients of OpenRouter: paths of `/v1`, answered in OpenRouter's shapes, and two endpoints that only OpenRouter has. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { periodStart } from '../../accounts/keys/limit-period.js';
import { usdNumber } from '../../base/money.js';
import { findModel } from '../../catalogue/lookup.js';
import type { Account, ApiKey } from '../../domain/account.js';
import type { BudgetPeriod } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { listModels } from '../api/models.js';
import { callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody } from '../server/body.js';
import { endpointJson, type KeySpend, keysShape, type OwnKey, openRouterShape, ownKeyShape } from './shapes.js';

const prefix = '/api/v1/';

export function isOpenRouterPath(url: string): boolean {
  return url.startsWith(prefix);
}

/** The path of `/v1` that answers; the two endpoints below have paths of their own. */
export function pathBehind(url: string): string {
  const path = url.split('?', 1)[0]!;
  return /^\/api\/v1\/(providers|models\/[^/]+\/[^/]+\/endpoints)$/.test(path)
    ? url
    : withoutPrefix(path) + url.slice(path.length);
}

/** `/auth/key` is what older clients call `/key`. */
function withoutPrefix(path: string): string {
  return path === '/api/v1/auth/key' ? '/v1/key' : path.slice('/api'.length);
}

type WithModel = { Params: { creator: string; model: string } };

export function registerOpenRouter(app: FastifyInstance, deps: HttpDeps): void {
  app.addHook('preSerialization', async (request, reply, payload) => {
    if (!isOpenRouterPath(request.originalUrl) || reply.statusCode >= 400) return payload;
    const path = pathOf(request);
    const query = new URL(request.originalUrl, 'http://gateway').searchParams;
    if (!/^\/v1\/keys?(\/|$)/.test(path)) {
      return openRouterShape(path, payload, { query, models: () => listModels(deps, request) });
    }
    const { key, account } = callerOf(request);
    const spend = await spendOf(deps, account);
    const answer = payload as Readonly<Record<string, unknown>>;
    return path === '/v1/key' ? ownKeyShape(answer, ownKeyOf(key), spend) : keysShape(answer, spend, query);
  });

  app.addHook('preHandler', async (request) => {
    if (!isKeyChange(request)) return;
    const { budgetsCountOwnKeys } = callerOf(request).account;
    request.body = Buffer.from(JSON.stringify(keyBody(jsonBody(request), budgetsCountOwnKeys)));
  });

  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 204 || !isOpenRouterPath(request.originalUrl)) return payload;
    reply.code(200).type('application/json; charset=utf-8');
    return '{"deleted":true}';
  });

  app.get('/api/v1/providers', async () => {
    const { current } = deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    const data = [...current.providers.values()].map(({ id, name }) => ({
      ...{ name, slug: id, privacy_policy_url: null, terms_of_service_url: null, status_page_url: null },
    }));
    return { data };
  });

  app.get<WithModel>('/api/v1/models/:creator/:model/endpoints', async (request) => {
    const { creator, model } = request.params;
    const { current } = deps.catalogue;
    if (!current) throw gatewayError('service_unavailable');
    const { canonicalId, name } = findModel(current, creator, model);
    const entries = listModels(deps, request);
    const auto = entries.find(({ id }) => id === `auto/${canonicalId}`);
    const routes = entries.filter(({ id, name_of }) => {
      const segments = id.split('/');
      return name_of === undefined && segments.length === 4 && segments.slice(1, 3).join('/') === canonicalId;
    });
    const endpoints = routes.map((route) =>
      endpointJson({ ...route }, current.providers.get(route.provider)?.name ?? route.provider),
    );
    const architecture = auto && { ...auto.architecture, tokenizer: 'Other', instruct_type: null };
    return { data: { id: canonicalId, name, created: auto?.created ?? 0, description: '', architecture, endpoints } };
  });
}

function ownKeyOf({ id, terms }: ApiKey): OwnKey {
  const { limitPico, limitReset, kind } = terms;
  return {
    id,
    isManagement: kind === 'management',
    limit: limitPico === null ? null : usdNumber(limitPico),
    limitReset,
  };
}

/** What was used through each key of the account today, this week, this month and ever. */
async function spendOf({ store, clock }: HttpDeps, { id, budgetsCountOwnKeys: countsOwn }: Account): Promise<KeySpend> {
  const now = clock.now();
  const none = new Map<string, bigint>();
  const since = async (period: BudgetPeriod) => {
    const from = periodStart(period, now);
    const [counted, own] = await Promise.all([
      from === null ? none : store.usage.spentSince(id, from),
      store.usage.ownSince(id, from ?? 0),
    ]);
    return (keyId: string) => {
      const { extraPico = 0n, listPico: ownPico = 0n } = own.get(keyId) ?? {};
      return { countedPico: counted.get(keyId) ?? 0n, extraPico, ownPico };
    };
  };
  const [never, daily, weekly, monthly] = await Promise.all([
    since('never'),
    since('daily'),
    since('weekly'),
    since('monthly'),
  ]);
  return { never, daily, weekly, monthly, countsOwn };
}

function isKeyChange(request: FastifyRequest): boolean {
  if (request.method !== 'POST' && request.method !== 'PATCH') return false;
  return isOpenRouterPath(request.originalUrl) && /^\/v1\/keys(\/|$)/.test(pathOf(request));
}

function pathOf({ originalUrl }: FastifyRequest): string {
  return withoutPrefix(originalUrl.split('?', 1)[0]!);
}

type Fields = Record<string, unknown>;
const resetOf = (value: unknown) => value ?? 'never';

/** What clients of OpenRouter send to make or change a key, in the words of `/v1/keys`. A field beside one that has its own name stays, and is refused by it. */
function keyBody(
  { limit, expires_at: expiresAt, include_byok_in_limit: byok, ...rest }: Fields,
  countsOwn: boolean,
): Fields {
  const isIn = (field: string) => Object.hasOwn(rest, field);
  return {
    ...rest,
    ...(isIn('limit_reset') && { limit_reset: resetOf(rest.limit_reset) }),
    ...(limit !== undefined && (isIn('limit_usd') ? { limit } : { limit_usd: usdTextOf(limit) })),
    ...(expiresAt !== undefined && (isIn('expires') ? { expires_at: expiresAt } : { expires: resetOf(expiresAt) })),
    // Whether requests with the customer's own credential count is the account's to say. `false` is OpenRouter's default.
    ...(byok !== undefined && byok !== false && byok !== null && byok !== countsOwn && { include_byok_in_limit: byok }),
  };
}

/** The shortest decimal text of a number. */
function usdTextOf(limit: unknown): unknown {
  if (typeof limit !== 'number' || !/e/.test(String(limit))) return typeof limit === 'number' ? String(limit) : limit;
  return limit < 1 ? limit.toFixed(12).replace(/0+$/, '') : limit.toString();
}
