/** Writes drafts of catalogue entries for models that public lists have and the catalogue does not. A person is to verify each. */
import { stringify } from 'yaml';
import type { Snapshot } from '../../catalogue/route.js';
import type { Found, MissingModel } from './match.js';

interface Drafts {
  /** A catalogue file. */
  readonly text: string;
  readonly models: number;
  readonly routes: number;
}

interface DraftRoute {
  readonly provider: string;
  readonly found: readonly Found[];
}

/** A model of the catalogue gets added routes: an entry of its own in a later file would replace it with all its routes. */
export function draftsOf(missing: readonly MissingModel[], snapshot: Snapshot): Drafts {
  const known = knownModels(snapshot);
  const taken = new Set<string>([...snapshot.routes.keys(), ...(snapshot.retired?.keys() ?? [])]);
  const added: string[] = [];
  const models = new Map<string, DraftRoute[]>();
  let routes = 0;
  for (const { provider, found: unsorted } of missing) {
    const found = unsorted.toSorted((a, b) => (a.list.asOf < b.list.asOf ? 1 : -1));
    const named = idOf(provider, found);
    if (named === null) continue;
    const canonicalId = known.get(namePart(named)) ?? known.get(namePart(found[0]!.model.model)) ?? named;
    const id = `${provider}/${canonicalId}/${placeOf(provider, snapshot)}`;
    if (taken.has(id)) continue;
    taken.add(id);
    routes++;
    const route = { provider, found };
    if (snapshot.models.has(canonicalId)) added.push(...routeLines(route, snapshot, canonicalId));
    else models.set(canonicalId, [...(models.get(canonicalId) ?? []), route]);
  }
  const text = [
    '# Drafts from public lists. Compare each figure with the page of the provider, write its source and date, and take `draft` out.',
    '# `lodestone catalogue check --strict` names the drafts that are left.',
    ...(models.size > 0 ? ['models:', ...[...models].flatMap((entry) => modelLines(...entry, snapshot))] : []),
    ...(added.length > 0 ? ['routes:', ...added] : []),
  ];
  return { text: `${text.join('\n')}\n`, models: models.size, routes };
}

/** The canonical ids of models, by their names and by what providers call them; a name of two models is left out. */
function knownModels({ models, routes }: Snapshot): ReadonlyMap<string, string> {
  const known = new Map<string, string | null>();
  const addName = (name: string, id: string) => {
    const part = namePart(name);
    known.set(part, known.has(part) && known.get(part) !== id ? null : id);
  };
  for (const { canonicalId } of models.values()) addName(canonicalId, canonicalId);
  for (const { upstreamModel, model } of routes.values()) addName(upstreamModel, model.canonicalId);
  return new Map([...known].filter((pair): pair is [string, string] => pair[1] !== null));
}

/** The last part of a name, without what providers write in different ways. */
function namePart(name: string): string {
  return name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');
}

/** Beginnings of names of models and of their makers' names, with the creator that the catalogue calls them. */
const creators: readonly (readonly [RegExp, string])[] = [
  [/^(gpt|o\d|codex|chatgpt|text-embedding-(3|ada)|openai)/, 'openai'],
  [/^(claude|anthropic)/, 'anthropic'],
  [/^(gemini|gemma|google|text-embedding-0|embeddinggemma)/, 'google'],
  [/^(llama|meta)/, 'meta-llama'],
  [/^(mi[sx]tral|ministral|magistral|devstral|codestral|pixtral|voxtral)/, 'mistralai'],
  [/^(qwen|qwq|qvq|gte-)/, 'qwen'],
  [/^(deepseek)/, 'deepseek'],
  [/^(kimi|moonshot)/, 'moonshotai'],
  [/^(glm|zai|z-ai|zhipu)/, 'zai'],
  [/^(grok|x-?ai)/, 'xai'],
  [/^(minimax)/, 'minimax'],
  [/^(nemotron|nvidia)/, 'nvidia'],
  [/^(command|embed-|rerank-|cohere|c4ai|aya)/, 'cohere'],
  [/^(nova|amazon|titan)/, 'amazon'],
  [/^(bge|baai)/, 'baai'],
  [/^(phi|microsoft)/, 'microsoft'],
];

/** `creator/model`; null where nothing of the name can be one. */
function idOf(provider: string, found: readonly Found[]): string | null {
  const { model } = found[0]!.model;
  const parts = model
    .toLowerCase()
    .replace(/^@cf\/|^accounts\/[^/]+\/models\//, '')
    .split('/');
  const last = parts.at(-1)!.replace(/^(?:global|us|eu|apac|jp|au)\./, '');
  // Bedrock writes the maker before a dot.
  const dotted = /^([a-z][a-z0-9]*)\.(?=[a-z])/.exec(last)?.[1];
  const maker = parts.length > 1 ? parts.at(-2)! : dotted;
  const name = segmentOf(dotted === undefined ? last : last.slice(dotted.length + 1));
  const creator = creators.find(([start]) => start.test(maker ?? last))?.[1];
  const by = creator ?? segmentOf(maker ?? provider);
  return name === '' || by === '' ? null : `${by}/${name}`;
}

function segmentOf(text: string): string {
  return text
    .replace(/[^a-z0-9._:@+-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 128);
}

/** Lists name no place: it is that of all the provider's routes, else the endpoint without one. */
function placeOf(provider: string, { routes }: Snapshot): string {
  const places = new Set(
    [...routes.values()].filter((route) => route.provider.id === provider).map(({ locode }) => locode),
  );
  return places.size === 1 ? [...places][0]! : 'global';
}

function modelLines(canonicalId: string, routes: readonly DraftRoute[], snapshot: Snapshot): string[] {
  const [creator, model] = canonicalId.split('/') as [string, string];
  const found = routes.flatMap((route) => route.found);
  const title = found.find((each) => each.model.title !== null)?.model.title;
  const limits = limitsOf(found);
  const kind = found[0]!.model.kind;
  return [
    `  - creator: ${scalar(creator)}`,
    `    model: ${scalar(model)}`,
    ...(title ? [`    name: ${scalar(title)}`] : []),
    ...(kind === 'chat' ? [] : [`    kind: ${kind}`]),
    ...(limits ? Object.entries(limits.fields).map(([name, count]) => `    ${name}: ${count}`) : []),
    ...(limits ? [`    source: ${limits.from.list.name}`, `    as_of: ${limits.from.list.asOf}`] : []),
    '    draft: true',
    '    routes:',
    ...routes.flatMap((route) => routeLines(route, snapshot).map((line) => `    ${line}`)),
  ];
}

/** The limits of the newest list that has any. */
function limitsOf(found: readonly Found[]): { from: Found; fields: Record<string, number> } | undefined {
  const from = found.find(({ model }) => model.contextWindow !== null || model.maxOutputTokens !== null);
  if (!from) return undefined;
  const { contextWindow, maxOutputTokens, kind } = from.model;
  return {
    from,
    fields: {
      ...(contextWindow !== null && { [kind === 'chat' ? 'context_window' : 'max_input_tokens']: contextWindow }),
      ...(maxOutputTokens !== null && kind === 'chat' && { max_output_tokens: maxOutputTokens }),
    },
  };
}

/** A route of a model of the catalogue names that model. */
function routeLines({ provider, found }: DraftRoute, snapshot: Snapshot, canonicalId?: string): string[] {
  const [newest] = found as [Found, ...Found[]];
  const { model } = newest.model;
  const capabilities = [...new Set(found.flatMap((each) => each.model.capabilities))];
  const fields = {
    ...(canonicalId !== undefined && { model: canonicalId }),
    ...{ provider, locode: placeOf(provider, snapshot), upstream_model: model },
    ...priceOf(found),
    ...(capabilities.length > 0 && { capabilities }),
    ...responsesFields(provider, found, snapshot),
    draft: true,
  };
  const others = found.filter((each) => !hasSamePrice(each, newest));
  const text = ({ list, model: { figures } }: Found) =>
    `${list.name} (${list.asOf}) has input ${figure(figures.get('input'))}, output ${figure(figures.get('output'))}`;
  return [...others.map((each) => `  # ${text(each)}`), `  - ${flow(fields)}`];
}

/** A route of a model that has no chat completions says so, and that its provider has the API at all. */
function responsesFields(provider: string, found: readonly Found[], { providers }: Snapshot): object {
  if (!found.some(({ model }) => model.responsesOnly)) return {};
  const isSpoken = providers.get(provider)?.apis?.includes('responses');
  return { ...(!isSpoken && { apis: ['responses'] }), responses_only: true };
}

/** The figures of the newest list. Without a price of output a chat model has none that could be charged. */
function priceOf(found: readonly Found[]): { price?: object } {
  const [newest] = found as [Found, ...Found[]];
  const { figures, kind } = newest.model;
  if (!figures.has(kind === 'rerank' && !figures.has('input') ? 'request' : 'input')) return {};
  if (kind === 'chat' && !figures.has('output')) return {};
  const base: Record<string, unknown> = {};
  const bands = new Map<string, Record<string, unknown>>();
  const tiers = new Map<string, Record<string, unknown>>();
  for (const [name, value] of figures) {
    const [, band, tier, price] = /^(?:above (\d+)k |(\w+) )?(\w+)$/.exec(name)!;
    if (kind !== 'chat' && price === 'output') continue;
    const layer = band ? layerOf(bands, band) : tier ? layerOf(tiers, tier) : base;
    layer[price!] = figure(value);
  }
  const above = [...bands].map(([band, layer]) => ({ input_tokens: Number(band) * 1000, ...layer }));
  const lists = found.filter((each) => hasSamePrice(each, newest)).map(({ list }) => list.name);
  return {
    price: {
      ...base,
      ...(above.length > 0 && { above: above.length === 1 ? above[0] : above }),
      ...(tiers.size > 0 && { tiers: Object.fromEntries(tiers) }),
      ...{ source: lists.join(', '), as_of: newest.list.asOf },
    },
  };
}

function layerOf(layers: Map<string, Record<string, unknown>>, name: string): Record<string, unknown> {
  const layer = layers.get(name) ?? {};
  layers.set(name, layer);
  return layer;
}

function hasSamePrice(one: Found, other: Found): boolean {
  return ['input', 'output'].every((name) => {
    const [a, b] = [one.model.figures.get(name) ?? 0, other.model.figures.get(name) ?? 0];
    return Math.abs(a - b) <= 0.02 * Math.max(a, b);
  });
}

/** A price has six decimals at most, and no exponent. */
function figure(value: number | undefined): number | null {
  return value === undefined ? null : Number(value.toFixed(6));
}

function flow(fields: object): string {
  return stringify(fields, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
}

function scalar(text: string): string {
  return stringify(text, { lineWidth: 0 }).trimEnd();
}
