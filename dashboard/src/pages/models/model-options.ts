/** The ids that a model picker offers, each with what helps to choose: name, kind, provider, price and context. */
import type { Catalogue, CatalogueModel, CatalogueRoute, ModelKind } from '../../api/types.js';
import { count, plural } from '../../format/figures.js';
import { usd } from '../../format/money.js';
import { lowestPrice } from './price-order.js';

export interface ModelOption {
  /** The id that a request names. */
  value: string;
  title: string;
  kind: ModelKind;
  /** Who serves it, and where. */
  place: string;
  price: string;
  context: string;
  /** All of it in lower case, to search in. */
  words: string;
}

/** The model of a pin or an `auto/` id: its second and third segment. */
export function modelOfId(id: string): string {
  return id.split('/').slice(1, 3).join('/');
}

/** Of one kind of models: auto ids first, then the operator's names and the account's aliases, then pins. */
export function modelOptions(catalogue: Catalogue, kind: ModelKind): ModelOption[] {
  const served = catalogue.data.filter((model) => model.servable && model.kind === kind);
  const byId = new Map(served.map((model) => [model.id, model]));
  const places = new Map(catalogue.regions.map(({ locode, city, country }) => [locode, `${city}, ${country}`]));
  const providers = new Map(catalogue.providers.map(({ id, name }) => [id, name]));
  const routes = (model: CatalogueModel) => model.routes.filter(({ servable }) => servable);
  const option = (value: string, model: CatalogueModel, among: CatalogueRoute[], place: string): ModelOption => {
    const context = model.context_window === null ? '' : `${count(model.context_window)} context`;
    const found = { value, title: model.name, kind: model.kind, place, context, price: priceText(among) };
    const names = among.map(({ provider }) => providers.get(provider) ?? '').join(' ');
    return { ...found, words: `${value} ${model.name} ${place} ${names} ${model.kind}`.toLowerCase() };
  };
  return [
    ...served.map((model) =>
      option(model.auto_id, model, routes(model), `best of ${plural(routes(model).length, 'route')}`),
    ),
    ...catalogue.names.flatMap(({ name, model_id: target }) => {
      const model = byId.get(modelOfId(target));
      return model ? [option(name, model, routes(model), `name of ${target}`)] : [];
    }),
    ...catalogue.aliases.flatMap(({ name, canonical_id: id, model_id: target }) => {
      const model = byId.get(id);
      return model ? [option(`alias/${name}`, model, routes(model), `alias of ${target}`)] : [];
    }),
    ...served.flatMap((model) =>
      routes(model).map((route) => {
        const provider = providers.get(route.provider) ?? route.provider;
        const place = places.get(route.locode) ?? 'no region';
        return option(route.id, model, [route], `${provider} · ${place}`);
      }),
    ),
  ];
}

function priceText(routes: readonly CatalogueRoute[]): string {
  const cheapest = lowestPrice(routes);
  if (!cheapest) return '';
  const text = `${usd(cheapest.input)} in · ${usd(cheapest.output)} out`;
  return routes.length > 1 ? `from ${text}` : text;
}

/** The options that contain every word of the text. */
export function matchingOptions(options: readonly ModelOption[], text: string, max: number): ModelOption[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: ModelOption[] = [];
  for (const option of options) {
    if (words.every((word) => option.words.includes(word))) found.push(option);
    if (found.length === max) break;
  }
  return found;
}
