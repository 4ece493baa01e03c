/** `/api/v1` for clients of OpenRouter: paths of `/v1`, answered in OpenRouter's shapes, and two endpoints that only OpenRouter has. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { periodStart } from '../../accounts/keys/limit-period.js';
import { usdNumber } from '../../base/money.js';
import { findModel } from '../../catalogue/lookup.js';
import type { ApiKey } from '../../domain/account.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { listModels } from '../api/models.js';
import { callerOf } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { jsonBody } from '../server/body.js';
import { keyBody } from './key-body.js';
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
    if (!/^\/v1\/keys?(\/|$)/.test(path)) {
      const query = new URL(request.originalUrl, 'http://gateway').searchParams;
      return openRouterShape(path, payload, { query, models: () => listModels(deps, request) });
    }
    const { key } = callerOf(request);
    const spend = await spendOf(deps, key.accountId);
    const answer = payload as Readonly<Record<string, unknown>>;
    return path === '/v1/key' ? ownKeyShape(answer, ownKeyOf(key), spend) : keysShape(answer, spend);
  });

  app.addHook('preHandler', async (request) => {
    if (!isKeyChange(request)) return;
    request.body = Buffer.from(JSON.stringify(keyBody(jsonBody(request))));
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

/** What each key of the account has spent today, this week and this month. */
async function spendOf({ store, clock }: HttpDeps, accountId: string): Promise<KeySpend> {
  const now = clock.now();
  const since = async (period: 'daily' | 'weekly' | 'monthly') => {
    const spent = await store.usage.spentSince(accountId, periodStart(period, now)!);
    return new Map([...spent].map(([id, pico]) => [id, usdNumber(pico)]));
  };
  const [daily, weekly, monthly] = await Promise.all([since('daily'), since('weekly'), since('monthly')]);
  return { daily: daily!, weekly: weekly!, monthly: monthly! };
}

function isKeyChange(request: FastifyRequest): boolean {
  if (request.method !== 'POST' && request.method !== 'PATCH') return false;
  return isOpenRouterPath(request.originalUrl) && /^\/v1\/keys(\/|$)/.test(pathOf(request));
}

function pathOf({ originalUrl }: FastifyRequest): string {
  return withoutPrefix(originalUrl.split('?', 1)[0]!);
}
