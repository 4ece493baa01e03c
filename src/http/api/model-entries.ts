/** The entries of `GET /v1/models`: OpenAI's model object with what this service knows about a route (contract 4.2). */
import { usdText } from '../../base/money.js';
import type { Capability, Model, Route } from '../../catalogue/route.js';

export interface ModelEntry {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
  name: string;
  context_length: number | null;
  max_output_tokens: number | null;
  /** USD a token, decimal text; null where unpublished. */
  pricing: { prompt: string | null; completion: string | null; input_cache_read: string | null };
  provider: string;
  locode: string | null;
  country: string | null;
  carbon: number | null;
  cloud_act: boolean | null;
  supported_parameters: string[];
}

/** Every route applies these, unless the catalogue says otherwise; a dialect translates them. */
const universalParameters = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'stream',
];

/** `vision` is a kind of content, not a parameter. */
const parametersOf: Record<Capability, readonly string[]> = {
  tools: ['tools', 'tool_choice'],
  vision: [],
  response_format: ['response_format'],
  json_object: ['response_format'],
  json_schema: ['response_format'],
  logprobs: ['logprobs', 'top_logprobs'],
  logit_bias: ['logit_bias'],
  n: ['n'],
};

function supportedParameters(routes: readonly Route[]): string[] {
  const parameters = new Set<string>();
  for (const route of routes) {
    const unsupported: readonly string[] = route.unsupportedParameters ?? [];
    for (const name of universalParameters) if (!unsupported.includes(name)) parameters.add(name);
    for (const capability of route.capabilities) for (const name of parametersOf[capability]) parameters.add(name);
  }
  return [...parameters];
}

/** The value that all routes agree on; null where they differ, since the walk decides which one serves. */
function agreed<T>(routes: readonly Route[], read: (route: Route) => T | null): T | null {
  const [first, ...rest] = routes.map(read);
  return first !== undefined && rest.every((value) => value === first) ? first : null;
}

/** What every one of the routes offers. */
function least(routes: readonly Route[], read: (route: Route) => number | null): number | null {
  const known = routes.map(read).filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function entry(
  id: string,
  model: Model,
  routes: readonly Route[],
  created: number,
): Omit<ModelEntry, 'provider' | 'locode'> {
  const price = (read: (route: Route) => bigint | null | undefined) => {
    const pico = agreed(routes, (route) => read(route) ?? null);
    return pico === null ? null : usdText(pico);
  };
  return {
    id,
    object: 'model',
    created,
    owned_by: model.creator,
    name: model.name,
    context_length: least(routes, ({ contextWindow }) => contextWindow),
    max_output_tokens: least(routes, ({ maxOutputTokens }) => maxOutputTokens),
    pricing: {
      prompt: price((route) => route.price?.input),
      completion: price((route) => route.price?.output),
      input_cache_read: price((route) => route.price?.cachedInput),
    },
    country: agreed(routes, (route) => route.country),
    carbon: agreed(routes, (route) => route.carbon),
    cloud_act: agreed(routes, (route) => route.provider.cloudAct),
    supported_parameters: supportedParameters(routes),
  };
}

export function routeEntry(route: Route, created: number, id = route.id): ModelEntry {
  return { ...entry(id, route.model, [route], created), provider: route.provider.id, locode: route.locode };
}

/** `routes` are the servable ones: those that the walk may choose from. */
export function autoEntry(
  model: Model,
  routes: readonly Route[],
  created: number,
  id = `auto/${model.canonicalId}`,
): ModelEntry {
  return { ...entry(id, model, routes, created), provider: 'auto', locode: null };
}
