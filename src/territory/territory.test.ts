import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import type { Provider, Route } from '../catalogue/route.js';
import { recordTerritory } from './country-database.js';
import {
  metCode,
  TerritoryNames,
  termsPermit,
  territoryFilter,
  territoryOfCode,
  unknownTerritory,
} from './territory.js';

describe('the territory of a code', () => {
  it.each([
    ['DE', 'DE', null],
    ['de', 'DE', null],
    ['ua-43', 'UA', 'UA-43'],
    ['UA-43', 'UA', 'UA-43'],
    ['gb-eng', 'GB', 'GB-ENG'],
    ['RU-MOW', 'RU', 'RU-MOW'],
  ])('%s is %s, %s', (code, country, subdivision) => {
    expect(territoryOfCode(code)).toEqual({ country, subdivision });
  });

  it.each([
    '',
    'XX',
    'xx',
    'XX-1',
    'T1',
    'A1',
    'D',
    'DEU',
    'D E',
    'DE-',
    'DE-ABCD',
    'UA_43',
    'UA-4_',
    'Cuba',
    'CU;',
    'ＣＵ',
  ])('%j is not known', (code) => expect(territoryOfCode(code)).toBe(unknownTerritory));
});

describe('a list of codes', () => {
  it.each([
    ['CU', ['CU'], 'CU'],
    ['RU-MOW', ['RU'], 'RU'],
    ['UA-43', ['UA-43'], 'UA-43'],
    ['UA', ['UA-43'], null],
    ['UA-30', ['UA-43'], null],
    ['RU-43', ['UA-43'], null],
    ['DE', ['CU', 'IR'], null],
    ['XX', ['XX', 'CU'], null],
    ['UA-43', [], null],
  ])('%s meets %j: %s', (code, codes, met) => {
    expect(metCode(new Set(codes as string[]), territoryOfCode(code as string))).toBe(met);
  });
});

describe('a record of a database', () => {
  it.each([
    [{ country_code: 'DE' }, 'DE', null],
    [{ country: { iso_code: 'DE' } }, 'DE', null],
    [{ country: { iso_code: 'UA' }, subdivisions: [{ iso_code: '43' }] }, 'UA', 'UA-43'],
    [{ country: { iso_code: 'UA' }, subdivisions: [{ iso_code: 'UA-43' }] }, 'UA', 'UA-43'],
    [{ country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'ENG' }, { iso_code: 'LND' }] }, 'GB', 'GB-ENG'],
    [{ country: { iso_code: 'GB' }, subdivisions: [] }, 'GB', null],
    [{ country: { iso_code: 'GB' }, subdivisions: [{ names: {} }] }, 'GB', null],
    [{ country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'not a code' }] }, 'GB', null],
    [{ country: { iso_code: 'GB' }, subdivisions: [{ iso_code: 'UA-43' }] }, 'GB', null],
    [{ country: 'US', continent: 'NA' }, 'US', null],
    [{ country: 'Germany', country_code: 'DE' }, 'DE', null],
    [{ registered_country: { iso_code: 'DE' } }, null, null],
    [{ country_code: 'XX' }, null, null],
    [{ country_code: 7 }, null, null],
    [null, null, null],
    ['DE', null, null],
    [{}, null, null],
  ])('%j is %s, %s', (record, country, subdivision) => {
    expect(recordTerritory(record)).toEqual({ country, subdivision });
  });
});

describe('names of territories', () => {
  const names = new TerritoryNames(new Map([['UA-43', 'Crimea']]));
  it.each([
    ['CU', 'Cuba (CU)'],
    ['KP', 'North Korea (KP)'],
    ['UA-43', 'Crimea (UA-43)'],
    ['RU-MOW', 'Russia (RU-MOW)'],
    ['QQ', 'QQ'],
  ])('%s is %s', (code, name) => expect(names.of(code)).toBe(name));

  it('go by the finest that is known', () => {
    expect(names.ofTerritory({ country: 'UA', subdivision: 'UA-43' })).toBe('Crimea (UA-43)');
    expect(names.ofTerritory({ country: 'UA', subdivision: null })).toBe('Ukraine (UA)');
    expect(names.ofTerritory(unknownTerritory)).toBe('an unknown territory');
  });
});

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
    expect(termsPermit(provider, territoryOfCode(code))).toBe(permitted);
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
