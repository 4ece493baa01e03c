import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { mmdbOf } from '../../tests/support/mmdb.js';
import { type Logger, silentLogger } from '../base/logger.js';
import { ConfigFault } from '../config/config-fault.js';
import { CountryDatabase, openBundled, openCountryDatabase } from './country-database.js';
import { unknownTerritory } from './territory.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-mmdb-'));
afterAll(() => rmSync(directory, { recursive: true }));

const crimea = { country: { iso_code: 'UA', names: { en: 'Ukraine' } }, subdivisions: [{ iso_code: '43' }] };
const own = mmdbOf([
  ['203.0.113.0/24', crimea],
  ['198.51.100.0/24', { country: { iso_code: 'UA' } }],
  ['2001:db8::/32', { country_code: 'CU' }],
  ['10.0.0.0/8', { country_code: 'CU' }],
]);

describe('an operator\u2019s own database', () => {
  it('gives country and subdivision', async () => {
    const path = join(directory, 'own.mmdb');
    writeFileSync(path, own);
    const database = (await openCountryDatabase(path, silentLogger))!;
    expect(database.territoryOf('203.0.113.7')).toEqual({ country: 'UA', subdivision: 'UA-43' });
    expect(database.territoryOf('198.51.100.7')).toEqual({ country: 'UA', subdivision: null });
    expect(database.territoryOf('2001:db8::7')).toEqual({ country: 'CU', subdivision: null });
    expect(database.territoryOf('192.0.2.7')).toBe(unknownTerritory);
    expect(database.territoryOf('2001:db9::7')).toBe(unknownTerritory);
  });

  it('is looked up by the IPv4 address that NAT64 and 6to4 carry', () => {
    const database = new CountryDatabase(own, silentLogger);
    expect(database.territoryOf('64:ff9b::cb00:7107').subdivision).toBe('UA-43');
    expect(database.territoryOf('2002:cb00:7107::1').subdivision).toBe('UA-43');
  });

  it('is not asked for IPv6 where it has IPv4 only', () => {
    const database = new CountryDatabase(mmdbOf([['32.0.0.0/3', { country_code: 'CU' }]], 4), silentLogger);
    expect(database.territoryOf('32.1.13.184').country).toBe('CU');
    expect(database.territoryOf('2001:db8::1')).toBe(unknownTerritory);
    expect(database.territoryOf('2002:2001:db8::1').country).toBe('CU');
  });

  it.each([
    ['missing', null, 'which cannot be read (ENOENT)'],
    ['empty', Buffer.alloc(0), 'expected a MaxMind DB file (.mmdb)'],
    ['text', Buffer.from('this is no database, however long it may be'.repeat(99)), 'expected a MaxMind DB file'],
    ['zeros', Buffer.alloc(10_000), 'expected a MaxMind DB file'],
    ['its end only', own.subarray(-200), 'expected a MaxMind DB file'],
    ['its beginning only', own.subarray(0, -120), 'expected a MaxMind DB file'],
  ])('that cannot be used stops the start with its path: %s', async (name, bytes, expected) => {
    const path = join(directory, `${name}.mmdb`);
    if (bytes) writeFileSync(path, bytes);
    const opening = openCountryDatabase(path, silentLogger);
    await expect(opening).rejects.toBeInstanceOf(ConfigFault);
    await expect(opening).rejects.toThrow(`server.country_database: found ${JSON.stringify(path)}, ${expected}`);
  });

  it('with damaged records says so once and places nobody', () => {
    const damaged = mmdbOf([['203.0.113.0/24', { country_code: 'CU' }]]);
    // A map whose first key is a pointer to itself.
    const at = damaged.indexOf('country_code') - 2;
    damaged.set([0x20, 0x00], at);
    const errors: string[] = [];
    const logger: Logger = { ...silentLogger, error: (_, message) => errors.push(message) };
    const database = new CountryDatabase(damaged, logger);
    expect(database.territoryOf('203.0.113.7')).toBe(unknownTerritory);
    expect(database.territoryOf('203.0.113.8')).toBe(unknownTerritory);
    expect(errors).toEqual(['the country database is damaged']);
  });
});

describe('the bundled database', () => {
  it('knows the countries of well-known addresses, IPv4 and IPv6', async () => {
    const database = (await openCountryDatabase(null, silentLogger))!;
    const countryOf = (address: string) => database.territoryOf(address).country;
    expect(countryOf('8.8.8.8')).toBe('US');
    expect(countryOf('2001:4860:4860::8888')).toBe('US');
    expect(countryOf('200.55.128.1')).toBe('CU');
    expect(countryOf('5.160.0.1')).toBe('IR');
    expect(countryOf('175.45.176.1')).toBe('KP');
  });

  it('may be missing: the service runs and logs a warning', async () => {
    const warnings: string[] = [];
    const logger: Logger = { ...silentLogger, warn: (_, message) => warnings.push(message) };
    expect(await openBundled(logger, '@ip-location-db/absent/absent.mmdb')).toBeNull();
    expect(warnings).toEqual([expect.stringContaining('the bundled country database cannot be read')]);
  });
});

describe('addresses that are nowhere', () => {
  it.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '127.0.0.1',
      '127.9.9.9',
      '169.254.1.1',
      '172.16.0.1',
      '172.29.0.1',
      '172.31.255.255',
      '192.168.1.1',
    ],
    ...['100.64.0.1', '100.99.0.1', '100.110.0.1', '100.127.255.255', '64:ff9b::a01:203', '2002:7f00:1::1'],
    ...['::', '::1', 'fe80::1', 'febf::1', 'fd12::1', 'fc00::1', 'fdff:ffff::'],
  ])('%s has no territory, whatever a database says', (address) => {
    const everywhere = { country_code: 'CU' };
    const database = new CountryDatabase(
      mmdbOf([
        ['0.0.0.0/1', everywhere],
        ['128.0.0.0/1', everywhere],
        ['fc00::/6', everywhere],
        ['::/128', everywhere],
      ]),
      silentLogger,
    );
    expect(database.territoryOf(address)).toBe(unknownTerritory);
    for (const elsewhere of [
      ...['1.0.0.1', '11.0.0.1', '100.63.0.1', '100.128.0.1', '126.0.0.1', '128.0.0.1', '169.253.0.1', '169.255.0.1'],
      ...['172.15.0.1', '172.32.0.1', '172.160.0.1', '192.167.0.1', '192.169.0.1', '101.0.0.1', 'ff00::1', 'fec0::1'],
    ]) {
      expect(database.territoryOf(elsewhere).country, elsewhere).toBe('CU');
    }
  });
});
