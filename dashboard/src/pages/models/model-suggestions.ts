/** Suggestions for a field of a chain or an alias, which hold no names: auto ids first, then the account's aliases, then pins. */
import type { Catalogue, CatalogueRoute } from '../../api/types.js';
import type { Suggestion } from '../../components/combobox.js';

export function modelSuggestions(catalogue: Catalogue, { aliases = true } = {}): Suggestion[] {
  const places = new Map(catalogue.regions.map(({ locode, city, country }) => [locode, `${city}, ${country}`]));
  const served = catalogue.data.filter(({ servable }) => servable);
  const place = ({ locode }: CatalogueRoute) => places.get(locode) ?? 'no region';
  return [
    ...served.map(({ auto_id: value }) => ({ value, hint: 'best route' })),
    ...(aliases ? catalogue.aliases.map(({ name, model_id: hint }) => ({ value: `alias/${name}`, hint })) : []),
    ...served.flatMap(({ routes }) =>
      routes.filter(({ servable }) => servable).map((route) => ({ value: route.id, hint: place(route) })),
    ),
  ];
}
