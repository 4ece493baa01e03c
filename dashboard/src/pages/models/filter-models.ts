/** Filters and sorts models and routes; a model without a matching route is left out. The address holds what is chosen. */
import type { Catalogue, CatalogueModel, CatalogueRoute, DataPolicy } from '../../api/types.js';
import { modelOfId } from './model-options.js';
import { lowestPrice } from './price-order.js';

export interface ModelFilter {
  text: string;
  provider: string;
  country: string;
  kind: string;
  /** A promise that the route must have: a name of `promises`. */
  promise: string;
  servableOnly: boolean;
  sort: string;
}

export const noFilter: ModelFilter = {
  ...{ text: '', provider: '', country: '', kind: '', promise: '', servableOnly: true, sort: '' },
};

export const promises: Record<string, { label: string; holds: (policy: DataPolicy | null) => boolean }> = {
  training: { label: 'No training', holds: (policy) => policy?.trains === false },
  retention: { label: 'Keeps nothing', holds: (policy) => policy?.retention_days === 0 },
  region: { label: 'Stays in region', holds: (policy) => policy?.in_region === true },
  eu: { label: 'Owned in the EU', holds: (policy) => policy?.eu_owned === true },
};

const highest = Number.POSITIVE_INFINITY;
const lowestOf = (values: (number | null)[]) => Math.min(...values.map((value) => value ?? highest), highest);

/** Lower comes first. */
const orders: Record<string, (model: CatalogueModel) => number> = {
  price: ({ routes }) => {
    const price = lowestPrice(routes);
    return price ? Number(price.input) + Number(price.output) : highest;
  },
  context: ({ context_window: context }) => -(context ?? 0),
  carbon: ({ routes }) => lowestOf(routes.map(({ carbon }) => carbon)),
  routes: ({ routes }) => -routes.length,
};

export const sorts = [
  { value: '', label: 'Catalogue order' },
  { value: 'name', label: 'Name' },
  { value: 'price', label: 'Lowest price' },
  { value: 'context', label: 'Largest context' },
  { value: 'carbon', label: 'Lowest grid intensity' },
  { value: 'routes', label: 'Most routes' },
];

export function filterModels(catalogue: Catalogue, filter: ModelFilter): CatalogueModel[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const cities = new Map(catalogue.regions.map(({ locode, city }) => [locode, city]));
  const providers = new Map(catalogue.providers.map(({ id, name }) => [id, name]));
  const names = new Map<string, string>();
  for (const { name, model_id: target } of catalogue.names) {
    const id = modelOfId(target);
    names.set(id, `${names.get(id) ?? ''} ${name}`);
  }
  const fits = (model: CatalogueModel, route: CatalogueRoute) => {
    if (filter.servableOnly && !route.servable) return false;
    if (filter.provider && route.provider !== filter.provider) return false;
    if (filter.country && route.country !== filter.country) return false;
    if (filter.promise && !promises[filter.promise]?.holds(route.data_policy)) return false;
    const text = [
      model.name,
      model.auto_id,
      route.id,
      cities.get(route.locode),
      providers.get(route.provider),
      names.get(model.id),
    ]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = catalogue.data
    .filter(({ kind }) => !filter.kind || kind === filter.kind)
    .map((model) => ({ ...model, routes: model.routes.filter((route) => fits(model, route)) }))
    .filter(({ routes }) => routes.length > 0);
  return sorted(found, filter.sort);
}

function sorted(models: CatalogueModel[], sort: string): CatalogueModel[] {
  const order = orders[sort];
  const compare = order
    ? (a: CatalogueModel, b: CatalogueModel) => compareNumbers(order(a), order(b))
    : (a: CatalogueModel, b: CatalogueModel) => (sort === 'name' ? a.name.localeCompare(b.name) : 0);
  // The sandbox is for tests, so it comes last.
  const isSandbox = ({ creator }: CatalogueModel) => Number(creator === 'lodestone');
  return models.sort((a, b) => isSandbox(a) - isSandbox(b) || compare(a, b));
}

/** Two unknown figures are equal. */
const compareNumbers = (a: number, b: number) => (a === b ? 0 : a - b);

const names = {
  q: 'text',
  provider: 'provider',
  country: 'country',
  kind: 'kind',
  data: 'promise',
  sort: 'sort',
} as const;

/** From the address: `?q=llama&country=DE&show=all`. */
export function filterOf(search: Record<string, unknown>): ModelFilter {
  const filter = { ...noFilter, servableOnly: search.show !== 'all' };
  for (const [name, key] of Object.entries(names)) if (search[name] !== undefined) filter[key] = String(search[name]);
  return filter;
}

/** What an address says of a filter; what is not chosen is left out. */
export function searchOf(filter: ModelFilter): Record<string, string> {
  const set = Object.entries(names).flatMap(([name, key]) => (filter[key] === '' ? [] : [[name, filter[key]]]));
  return { ...Object.fromEntries(set), ...(!filter.servableOnly && { show: 'all' }) };
}
