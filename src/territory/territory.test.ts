import { describe, expect, it } from 'vitest';
import { recordTerritory } from './country-database.js';
import { territoryOfCode, unknownTerritory } from './territory.js';

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
