/** Answers of `/v1` in the shapes that clients of OpenRouter read under `/api/v1`. */
import { type PicoUsd, usdNumber } from '../../base/money.js';

type Fields = Readonly<Record<string, unknown>>;
/** What was used through a key in a period. */
interface KeyUse {
  /** As caps count it. */
  readonly countedPico: PicoUsd;
  /** What of it is the list price of own credentials beyond the fees, which is nobody's credit. */
  readonly extraPico: PicoUsd;
  /** The list price of what own credentials have served. */
  readonly ownPico: PicoUsd;
}

type Period = 'daily' | 'weekly' | 'monthly';

/** What was used through the keys of an account. */
export interface KeySpend {
  /** Ever; what is counted is in the answer of `/v1`. */
  readonly never: UseOf;
  readonly daily: UseOf;
  readonly weekly: UseOf;
  readonly monthly: UseOf;
  /** Whether caps count the list price of own credentials. */
  readonly countsOwn: boolean;
}

type UseOf = (keyId: string) => KeyUse;

/** The key that asks, for the answer about itself. */
export interface OwnKey {
  readonly id: string;
  readonly isManagement: boolean;
  readonly limit: number | null;
  readonly limitReset: Period | 'never';
}

interface Asked {
  readonly query: URLSearchParams;
  /** What `/v1/models` lists for the caller. */
  models(): readonly object[];
}

/** The answer of a path of `/v1`; other answers stay as they are. */
type Shape = (answer: Fields, asked: Asked) => unknown;

const number = (value: unknown): number | null => (value === null || value === undefined ? null : Number(value));

/** The prices of the cheapest route of each model. What is served by several routes has no price of its own. */
function cheapestPrices(entries: readonly Fields[]): ReadonlyMap<string, Fields> {
  const cheapest = new Map<string, Fields>();
  for (const { id, pricing } of entries) {
    const [, creator, model, locode] = String(id).split('/');
    if (locode === undefined) continue;
    const canonicalId = `${creator}/${model}`;
    const known = cheapest.get(canonicalId);
    if (!known || promptPrice(pricing as Fields) < promptPrice(known)) cheapest.set(canonicalId, pricing as Fields);
  }
  return cheapest;
}

const promptPrice = ({ prompt }: Fields): number => (prompt === null ? Number.POSITIVE_INFINITY : Number(prompt));

function modelJson(entry: Fields, cheapest: ReadonlyMap<string, Fields>): Fields {
  const { id, name_of: target = id, architecture, context_length: context, max_output_tokens: output } = entry;
  const shortId = String(id).replace(/^auto\//, '');
  const own = entry.pricing as Fields;
  const pricing = own.prompt === null ? cheapest.get(String(target).replace(/^auto\//, '')) : undefined;
  const prices = Object.entries(pricing ?? own).map(([name, price]) => [name, price ?? '0']);
  return {
    id: shortId,
    canonical_slug: shortId,
    hugging_face_id: null,
    name: entry.name,
    created: entry.created,
    description: '',
    context_length: context,
    architecture: { ...(architecture as Fields), tokenizer: 'Other', instruct_type: null },
    pricing: Object.fromEntries(prices),
    top_provider: { context_length: context, max_completion_tokens: output, is_moderated: false },
    per_request_limits: null,
    supported_parameters: entry.supported_parameters,
    supported_voices: null,
    links: { details: `/api/v1/models/${shortId}/endpoints` },
    default_parameters: null,
    expiration_date: (entry.retires as { date?: string } | null)?.date ?? null,
  };
}

/** What is one entry a model: its `auto/` id, and the operator's names. */
function modelsJson({ data }: Fields, { query }: Asked): unknown {
  const entries = data as Fields[];
  const shown = entries.filter(({ id, name_of }) => name_of !== undefined || String(id).startsWith('auto/'));
  const page = afterOffset(shown, query).slice(0, Number(query.get('limit')) || shown.length);
  const cheapest = cheapestPrices(entries);
  return { data: page.map((entry) => modelJson(entry, cheapest)), total_count: shown.length, links: { next: null } };
}

/** Lists are paged by how many entries to skip. */
function afterOffset(entries: readonly Fields[], query: URLSearchParams): readonly Fields[] {
  return entries.slice(Math.max(Number(query.get('offset')) || 0, 0));
}

export function endpointJson(route: Fields, providerName: string): Fields {
  return {
    name: `${providerName} | ${String(route.id)}`,
    model_id: String(route.id).split('/').slice(1, 3).join('/'),
    model_name: route.name,
    context_length: route.context_length ?? 0,
    pricing: modelJson(route, new Map()).pricing,
    provider_name: providerName,
    tag: `${String(route.provider)}/${String(route.locode)}`,
    quantization: route.quantization,
    max_completion_tokens: route.max_output_tokens,
    max_prompt_tokens: null,
    supported_parameters: route.supported_parameters,
    status: 0,
    ...{ uptime_last_5m: null, uptime_last_30m: null, uptime_last_1d: null },
    ...{ latency_last_30m: null, throughput_last_30m: null },
    supports_tool_choice: toolChoice((route.supported_parameters as readonly string[]).includes('tool_choice')),
    supports_implicit_caching: (route.pricing as Fields).input_cache_read !== null,
  };
}

function toolChoice(isSupported: boolean): Fields {
  return { auto: isSupported, function: isSupported, none: isSupported, required: isSupported };
}

function generationJson({ data }: Fields): unknown {
  const made = data as Fields;
  const served = typeof made.served_model === 'string' ? made.served_model.split('/').slice(1, 3).join('/') : '';
  const cost = number(made.cost_usd);
  // With the customer's own credential the provider charges the customer.
  const paid = made.is_byok === true ? number(made.notional_usd) : cost;
  return {
    data: {
      ...{ id: made.id, request_id: made.request_id, created_at: made.created_at, model: served },
      ...{ total_cost: cost, usage: cost, upstream_inference_cost: paid, cache_discount: null, is_byok: made.is_byok },
      ...{ origin: '', app_id: null, upstream_id: null, streamed: made.streamed, api_type: 'completions' },
      cancelled: made.stream_end === 'client_closed',
      ...{ provider_name: made.provider, latency: made.first_byte_ms, generation_time: made.latency_ms },
      ...{ moderation_latency: null, finish_reason: made.finish_reason, native_finish_reason: made.finish_reason },
      ...{ tokens_prompt: made.prompt_tokens, tokens_completion: made.completion_tokens },
      ...{ native_tokens_prompt: made.prompt_tokens, native_tokens_completion: made.completion_tokens },
      ...{ native_tokens_reasoning: made.reasoning_tokens, native_tokens_cached: made.cached_tokens },
      ...{ native_tokens_completion_images: null, num_fetches: null, num_input_audio_prompt: null },
      ...{ http_referer: null, user_agent: null, preset_id: null, provider_responses: null, router: null },
      ...{
        service_tier: made.service_tier ?? null,
        web_search_engine: null,
        workspace_id: null,
        data_region: 'global',
      },
      ...{ num_media_prompt: null, num_media_completion: null, num_search_results: null, external_user: null },
    },
  };
}

/** OpenRouter's `usage` is of credits alone, and what own credentials have served stands beside it. */
function spentJson(keyId: unknown, spend: KeySpend, counted: number, period: Period | 'never'): Fields {
  const id = String(keyId);
  // Both are whole pico-dollars, but numbers of the answer.
  const usage = Number((counted - usdNumber(spend[period](id).extraPico)).toFixed(12));
  const credits = (of: Period) => usdNumber(spend[of](id).countedPico - spend[of](id).extraPico);
  const own = (of: Period | 'never') => usdNumber(spend[of](id).ownPico);
  return {
    ...{ include_byok_in_limit: spend.countsOwn, usage },
    ...{ usage_daily: credits('daily'), usage_weekly: credits('weekly'), usage_monthly: credits('monthly') },
    ...{ byok_usage: own('never'), byok_usage_daily: own('daily') },
    ...{ byok_usage_weekly: own('weekly'), byok_usage_monthly: own('monthly') },
  };
}

/** `answer` is one key, with its token where it was just made, or a list of keys. */
export function keysShape(answer: Fields, spend: KeySpend, query: URLSearchParams): unknown {
  if (Array.isArray(answer.data)) return { data: afterOffset(answer.data, query).map((key) => keyJson(key, spend)) };
  const { token } = answer;
  return { data: keyJson(answer, spend), ...(token !== undefined && { key: token }) };
}

function keyJson(key: Fields, spend: KeySpend): Fields {
  return {
    ...{
      hash: key.id,
      name: key.name,
      label: `${String(key.prefix)}…${String(key.last_four)}`,
      disabled: key.disabled,
    },
    ...{ limit: number(key.limit_usd), limit_remaining: number(key.limit_remaining_usd) },
    limit_reset: key.limit_reset === 'never' ? null : key.limit_reset,
    ...spentJson(key.id, spend, Number(key.usage_usd), key.limit_reset as Period | 'never'),
    ...{ created_at: key.created_at, updated_at: null, expires_at: key.expires_at },
    ...{ creator_user_id: null, external_user: null, workspace_id: '' },
  };
}

export function ownKeyShape({ data }: Fields, key: OwnKey, spend: KeySpend): unknown {
  const { label, usage, expires_at, rate_limit: limits } = data as Fields;
  const { requests_per_minute: requests } = limits as Fields;
  const { id, limit, limitReset, isManagement } = key;
  const counted = usage as number;
  const spent = limitReset === 'never' ? counted : usdNumber(spend[limitReset](id).countedPico);
  return {
    data: {
      ...{ label, ...spentJson(id, spend, counted, 'never') },
      ...{ limit, limit_remaining: limit === null ? null : Math.max(0, limit - spent) },
      limit_reset: limitReset === 'never' ? null : limitReset,
      ...{ is_free_tier: false, is_management_key: isManagement, is_provisioning_key: isManagement, expires_at },
      ...{ allowed_data_regions: [], creator_user_id: null, organization_id: null, workspace_id: null },
      free_model_daily_requests: { limit: 0, remaining: 0, used: 0 },
      rate_limit: { requests, interval: '60s', note: 'Requests a minute.' },
    },
  };
}

const shapes: readonly (readonly [path: RegExp, shape: Shape])[] = [
  [/^\/v1\/models$/, modelsJson],
  [
    /^\/v1\/models\/(?!.*\/endpoints$)./,
    (entry, { models }) => ({ data: modelJson(entry, cheapestPrices(models() as Fields[])) }),
  ],
  [/^\/v1\/generation(\/|$)/, generationJson],
];

/** `path` is that of `/v1`. */
export function openRouterShape(path: string, answer: unknown, asked: Asked): unknown {
  const shape = shapes.find(([form]) => form.test(path))?.[1];
  if (!shape || answer === null || typeof answer !== 'object' || 'error' in answer) return answer;
  return shape(answer as Fields, asked);
}
