import { describe, expect, it } from 'vitest';
import type { Catalogue, CatalogueModel, CatalogueRoute } from '../../api/types.js';
import { filterModels, noFilter } from './filter-models.js';

const route = (id: string, fields: Partial<CatalogueRoute> = {}) =>
  ({
    id,
    provider: id.split('/')[0],
    locode: id.split('/')[3],
    country: 'DE',
    servable: true,
    ...fields,
  }) as CatalogueRoute;

const model = (id: string, routes: CatalogueRoute[]) =>
  ({ id, auto_id: `auto/${id}`, name: id, creator: id.split('/')[0], routes }) as CatalogueModel;

const catalogue = {
  data: [
    model('lodestone/echo', [route('sandbox/lodestone/echo/global', { country: null })]),
    model('meta/llama', [
      route('acme/meta/llama/defra'),
      route('zeta/meta/llama/usnyc', { country: 'US', servable: false }),
    ]),
  ],
  providers: [{ id: 'acme', name: 'Acme Cloud' }],
  regions: [{ locode: 'defra', city: 'Frankfurt' }],
  names: [],
} as unknown as Catalogue;

const found = (change: Partial<typeof noFilter>) =>
  filterModels(catalogue, { ...noFilter, ...change }).flatMap(({ routes }) => routes.map(({ id }) => id));

describe('the filter of the Models page', () => {
  it('shows what can be served, the sandbox last', () => {
    expect(found({})).toEqual(['acme/meta/llama/defra', 'sandbox/lodestone/echo/global']);
  });

  it('shows the rest on demand', () => {
    expect(found({ servableOnly: false })).toContain('zeta/meta/llama/usnyc');
  });

  it('finds by city and by the provider’s name, every word of it', () => {
    expect(found({ text: 'frankfurt ACME' })).toEqual(['acme/meta/llama/defra']);
    expect(found({ text: 'frankfurt zeta' })).toEqual([]);
  });

  it('takes provider and country together', () => {
    expect(found({ provider: 'zeta', country: 'US', servableOnly: false })).toEqual(['zeta/meta/llama/usnyc']);
    expect(found({ provider: 'zeta', country: 'DE', servableOnly: false })).toEqual([]);
  });
});
