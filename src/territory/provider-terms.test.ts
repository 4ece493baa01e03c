import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import type { Provider, Route } from '../catalogue/route.js';
import { permits, territoryFilter } from './provider-terms.js';
import { territoryOfCode, unknownTerritory } from './territory.js';

const base = smallSnapshot();
const providerWith = (id: string, ...excludedTerritories: string[]): Provider => ({
  ...base.providers.get('acme')!,
  id,
  excludedTerritories,
});
const routeOf = (provider: Provider): Route => ({ ...[...base.routes.values()][0]!, id: `${provider.id}/m`, provider });

const open = routeOf(providerWith('open'));
const noRu = routeOf(providerWith('no-ru', 'RU', 'BY'));
const noCrimea = routeOf(providerWith('no-crimea', 'UA-43'));

describe('providers\u2019 terms', () => {
  it.each([
    ['no-ru', noRu, 'RU', false],
    ['no-ru', noRu, 'RU-MOW', false],
    ['no-ru', noRu, 'DE', true],
    ['no-ru', noRu, 'XX', true],
    ['no-crimea', noCrimea, 'UA-43', false],
    ['no-crimea', noCrimea, 'UA-30', true],
    ['no-crimea', noCrimea, 'UA', true],
    ['open', open, 'RU', true],
  ])('%s: a caller in %3$s is permitted: %4$s', (_, { provider }, code, permitted) => {
    expect(permits(provider, territoryOfCode(code))).toBe(permitted);
  });

  it('leave the very same list where they exclude nobody', () => {
    const routes = [open, noRu, noCrimea];
    for (const territory of [unknownTerritory, territoryOfCode('DE'), territoryOfCode('UA')]) {
      const filtered = territoryFilter(routes, territory);
      expect(filtered.permitted).toBe(routes);
      expect(filtered.excluded).toEqual([]);
    }
  });

  it('part the routes and keep their order', () => {
    const routes = [open, noRu, noCrimea, noRu, open];
    const before = [...routes];
    const { permitted, excluded } = territoryFilter(routes, territoryOfCode('RU'));
    expect(permitted).toEqual([open, noCrimea, open]);
    expect(excluded).toEqual([noRu, noRu]);
    expect(routes).toEqual(before);
    expect(territoryFilter([noRu], territoryOfCode('RU')).permitted).toEqual([]);
  });
});
