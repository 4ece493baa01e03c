/** Finds the routes of the catalogue in public lists, and the models of the lists for which the catalogue has no route. */
import type { Route, Snapshot } from '../../catalogue/route.js';
import type { ListedModel, PriceList } from './read-list.js';

/** Names of a provider in the lists, where they are not its id. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  alibaba: ['dashscope'],
  azure: ['azure_ai'],
  bedrock: ['bedrock_converse', 'amazon-bedrock', 'aws'],
  cloudflare: ['cloudflare-workers-ai'],
  cloudferro: ['cloudferro-sherlock'],
  cohere: ['cohere_chat'],
  fireworks: ['fireworks_ai', 'fireworks-ai', 'fireworks_ai-embedding-models'],
  friendli: ['friendliai'],
  'google-ai-studio': ['gemini', 'google'],
  moonshotai: ['moonshot'],
  novita: ['novita-ai'],
  ovhcloud: ['ovhcloud-ai-endpoints'],
  together: ['together_ai', 'togetherai'],
  xai: ['x-ai'],
};
const vertexNames = /^vertex_ai|^google-vertex/;

/** The providers of these lists serve a model in many places, at prices of their own. */
const manyPlaces: ReadonlySet<string> = new Set(['azure', 'bedrock', 'vertex']);

const profile = /^(global|us|eu|apac|jp|au|us-gov)\./;
const regionInAddress = /\b(?:[a-z]{2}-[a-z]+-\d|[a-z]+-[a-z]+\d{1,2})\b/;

/** A route beside the lists that have it. */
export interface ListedRoute {
  readonly route: Route;
  readonly found: readonly Found[];
}

export interface Found {
  readonly list: PriceList;
  readonly model: ListedModel;
}

/** A model of a provider of the catalogue that the catalogue does not have there. */
export interface MissingModel {
  /** The catalogue's id of the provider. */
  readonly provider: string;
  readonly found: readonly Found[];
}

type Index = ReadonlyMap<string, ListedModel>;

/** Routes that no list has are in the answer too, with nothing found. */
export function routesInLists(routes: readonly Route[], lists: readonly PriceList[]): ListedRoute[] {
  const indexes = lists.map((list): [PriceList, Index] => [list, indexOf(list)]);
  return routes.map((route) => {
    const names = namesOf(route);
    const found = indexes.flatMap(([list, index]) => {
      const name = names.find((each) => index.has(`${route.provider.id} ${each}`));
      return name === undefined ? [] : [{ list, model: index.get(`${route.provider.id} ${name}`)! }];
    });
    return { route, found };
  });
}

/** The first entry of a name wins: LiteLLM's table has a model of Bedrock under several kinds of its API. */
function indexOf({ models }: PriceList): Index {
  const index = new Map<string, ListedModel>();
  for (const model of models) {
    const provider = providerIdOf(model.provider);
    for (const name of model.names) {
      const key = `${provider} ${name.replace(/@default$/, '')}`;
      if (!index.has(key)) index.set(key, model);
    }
  }
  return index;
}

const idsByName = new Map(
  Object.entries(otherNames).flatMap(([id, names]) => names.map((name) => [name, id] as const)),
);

function providerIdOf(name: string): string {
  return vertexNames.test(name) ? 'vertex' : (idsByName.get(name) ?? name);
}

/** What lists may call the model of a route. In a place of a provider that has many, a name must say the place. */
function namesOf({ provider: { id }, upstreamModel, locode, baseUrl, processing }: Route): string[] {
  const own = upstreamModel.toLowerCase();
  if (!manyPlaces.has(id)) return [own];
  if (locode === 'global') return [own, `global/${own}`];
  const region = regionInAddress.exec(baseUrl)?.[0];
  return [
    ...(profile.test(own) ? [own] : []),
    ...(region ? [`${region}/${own}`] : []),
    ...(processing === 'eu' || processing === 'us' ? [`${processing}/${own}`] : []),
  ];
}

export function missingModels({ providers, routes, retired }: Snapshot, lists: readonly PriceList[]): MissingModel[] {
  const known = new Set<string>();
  for (const route of [...routes.values(), ...(retired?.values() ?? [])]) {
    known.add(`${route.provider.id} ${bareName(route.provider.id, route.upstreamModel)}`);
    known.add(`${route.provider.id} ${route.model.model.toLowerCase()}`);
  }
  const missing = new Map<string, { provider: string; found: Found[] }>();
  for (const list of lists) {
    for (const model of list.models) {
      const provider = providerIdOf(model.provider);
      if (model.kind === null || model.ended || !providers.has(provider)) continue;
      if (model.names.some((name) => known.has(`${provider} ${bareName(provider, name)}`))) continue;
      const key = `${provider} ${bareName(provider, model.model)}`;
      const entry = missing.get(key) ?? { provider, found: [] };
      missing.set(key, entry);
      if (!entry.found.some((each) => each.list === list)) entry.found.push({ list, model });
    }
  }
  return [...missing.values()];
}

const snapshotName = /(?:-latest|-\d{4}-\d{2}-\d{2}|[-@]\d{8}|@default|-v\d+:\d+(?::\w+)?|:\d+)+$/;

/** The name without the place, the date of a snapshot and the word for the newest one. */
function bareName(provider: string, name: string): string {
  const lower = name.toLowerCase();
  const own = manyPlaces.has(provider) ? lower.slice(lower.lastIndexOf('/') + 1).replace(profile, '') : lower;
  return own.replace(snapshotName, '');
}
