/** Filters models and routes; a model without a matching route is left out. */
import type { Catalogue, CatalogueModel, CatalogueRoute } from '../../api/types.js';

export interface ModelFilter {
  text: string;
  provider: string;
  country: string;
  servableOnly: boolean;
}

export const noFilter: ModelFilter = { text: '', provider: '', country: '', servableOnly: true };

export function filterModels(catalogue: Catalogue, filter: ModelFilter): CatalogueModel[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const cities = new Map(catalogue.regions.map(({ locode, city }) => [locode, city]));
  const providers = new Map(catalogue.providers.map(({ id, name }) => [id, name]));
  const fits = (model: CatalogueModel, route: CatalogueRoute) => {
    if (filter.servableOnly && !route.servable) return false;
    if (filter.provider && route.provider !== filter.provider) return false;
    if (filter.country && route.country !== filter.country) return false;
    const text = [model.name, model.auto_id, route.id, cities.get(route.locode), providers.get(route.provider)]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  // The sandbox is for tests, so it comes last.
  const isSandbox = ({ creator }: CatalogueModel) => Number(creator === 'lodestone');
  return [...catalogue.data]
    .sort((a, b) => isSandbox(a) - isSandbox(b))
    .map((model) => ({ ...model, routes: model.routes.filter((route) => fits(model, route)) }))
    .filter(({ routes }) => routes.length > 0);
}
