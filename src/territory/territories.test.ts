import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../tests/support/snapshot.js';
import { silentLogger } from '../base/logger.js';
import type { Provider, Route } from '../catalogue/route.js';
import { loadConfig } from '../config/load-config.js';
import { envelopeOf } from '../errors/envelope.js';
import { GatewayError } from '../errors/gateway-error.js';
import { ProxyTrust } from './caller-address.js';
import {
  metCode,
  Territories,
  TerritoryNames,
  type TerritoryParts,
  termsPermit,
  territoryFilter,
} from './territories.js';
import { territoryOfCode, unknownTerritory } from './territory.js';

const sanctioned = {
  codes: new Set(['CU', 'RU', 'UA-43']),
  names: new Map([
    ['UA-43', 'Crimea'],
    ['UA-40', 'Sevastopol'],
  ]),
};
const places: Record<string, string> = { '203.0.113.7': 'CU', '198.51.100.7': 'DE', '2001:db8::7': 'UA-43' };

function made(parts: Partial<TerritoryParts> = {}) {
  const asked: string[] = [];
  const database = {
    territoryOf: (address: string) => {
      asked.push(address);
      return territoryOfCode(places[address] ?? 'XX');
    },
  };
  const trust = new ProxyTrust(['10.0.0.0/8'], 'x-forwarded-for');
  return {
    asked,
    territories: new Territories({ trust, countryHeader: 'cf-ipcountry', database, sanctioned, ...parts }),
  };
}

function refusal(action: () => void): GatewayError {
  try {
    action();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('where a request comes from', () => {
  it('is looked up by address where no trusted proxy says it', () => {
    const { territories, asked } = made();
    expect(territories.originOf('203.0.113.7', { rawHeaders: [] })).toEqual({
      address: '203.0.113.7',
      territory: { country: 'CU', subdivision: null },
    });
    expect(territories.originOf('::ffff:203.0.113.7', { rawHeaders: [] }).territory.country).toBe('CU');
    expect(
      territories.originOf('10.0.0.1', { rawHeaders: ['X-Forwarded-For', '2001:DB8::7'] }).territory.subdivision,
    ).toBe('UA-43');
    expect(
      territories.originOf('10.0.0.1', { rawHeaders: ['CF-IPCountry', '', 'X-Forwarded-For', '203.0.113.7'] }).territory
        .country,
    ).toBe('CU');
    expect(territories.originOf(undefined, { rawHeaders: [] }).territory).toBe(unknownTerritory);
    expect(territories.originOf('192.0.2.9', { rawHeaders: [] }).territory).toBe(unknownTerritory);
    expect(asked).toEqual(['203.0.113.7', '2001:db8::7', '192.0.2.9']);
  });

  it('is looked up once while the address keeps coming', () => {
    const { territories, asked } = made();
    for (let i = 0; i < 100; i++) territories.originOf('203.0.113.7', { rawHeaders: [] });
    expect(asked).toEqual(['203.0.113.7']);
  });

  it('stays what it is under 15 spoofed headers of a caller', () => {
    const names = [
      ...['CF-IPCountry', 'X-Forwarded-For', 'X-Real-IP', 'CF-Connecting-IP', 'True-Client-IP', 'X-Client-IP'],
      ...['X-Country-Code', 'X-Geo-Country', 'X-AppEngine-Country', 'CloudFront-Viewer-Country', 'X-Vercel-IP-Country'],
      ...['X-Vercel-IP-Country-Region', 'Fastly-Geo-Country', 'X-Forwarded-Country', 'X-Azure-ClientIP'],
    ];
    const spoofed = names.flatMap((name) => [name, /country|geo/i.test(name) ? 'DE' : '198.51.100.7']);
    expect(names).toHaveLength(15);
    for (const trust of [new ProxyTrust([], 'x-forwarded-for'), new ProxyTrust(['10.0.0.0/8'], 'x-forwarded-for')]) {
      const { territories } = made({ trust });
      const origin = territories.originOf('203.0.113.7', { rawHeaders: spoofed });
      expect(origin).toEqual({ address: '203.0.113.7', territory: { country: 'CU', subdivision: null } });
      expect(refusal(() => territories.checkCaller(origin.territory)).status).toBe(451);
    }
  });

  it.each([
    ['CU', 'CU', null],
    ['cu', 'CU', null],
    [' ua-43 ', 'UA', 'UA-43'],
    ['UA', 'UA', null],
    ['XX', null, null],
    ['T1', null, null],
    ['Cuba', null, null],
    ['<script>', null, null],
  ])('is what a trusted proxy\u2019s header says: %j', (value, country, subdivision) => {
    const { territories, asked } = made();
    const headers = ['X-Forwarded-For', '198.51.100.7', 'CF-IPCountry', value];
    expect(territories.originOf('10.0.0.1', { rawHeaders: headers })).toEqual({
      address: '198.51.100.7',
      territory: { country, subdivision },
    });
    expect(territories.territoryOf('198.51.100.7', headers)).toEqual({ country, subdivision });
    expect(asked).toEqual([]);
    expect(territories.territoryOf('198.51.100.7', null)).toEqual({ country: 'DE', subdivision: null });
  });

  it('is the proxy\u2019s own word where the caller sent the header too', () => {
    const { territories } = made();
    const twice = ['CF-IPCountry', 'DE', 'cf-ipcountry', 'CU'];
    expect(territories.originOf('10.0.0.1', { rawHeaders: twice }).territory.country).toBe('CU');
    expect(territories.originOf('10.0.0.1', { rawHeaders: ['CF-IPCountry', 'DE, CU'] }).territory.country).toBe('CU');
  });

  it('is not known without a database, and then nobody is refused', () => {
    const { territories } = made({ database: null });
    const { territory } = territories.originOf('203.0.113.7', { rawHeaders: [] });
    expect(territory).toBe(unknownTerritory);
    expect(() => territories.checkCaller(territory)).not.toThrow();
  });
});

describe('a sanctioned territory', () => {
  const { territories } = made();

  it.each([
    ['CU', 'Cuba (CU)'],
    ['UA-43', 'Crimea (UA-43)'],
    ['RU-MOW', 'Russia (RU)'],
  ])('refuses a caller in %s and names %s', (code, name) => {
    const error = refusal(() => territories.checkCaller(territoryOfCode(code)));
    expect(envelopeOf(error).error).toEqual({
      type: 'permission_error',
      code: 'unavailable_for_legal_reasons',
      message: `This request comes from ${name}, a sanctioned territory, where this service may not be provided. No change to the request helps; if the territory is wrong, tell the operator the x-request-id. Retrying does not help.`,
    });
    expect(error.status).toBe(451);
  });

  it.each(['DE', 'UA', 'UA-40', 'UA-30', 'XX', ''])('lets a caller in %j pass', (code) => {
    expect(() => territories.checkCaller(territoryOfCode(code))).not.toThrow();
  });

  it('suspends an account that is billed there, and no other', () => {
    const error = refusal(() => territories.checkBillingCountry({ billingCountry: 'CU' }));
    expect([error.status, error.param]).toEqual([451, undefined]);
    expect(error.message).toContain(
      'This account is suspended: its billing country is Cuba (CU), a sanctioned territory.',
    );
    for (const billingCountry of [null, 'DE', 'UA']) {
      expect(() => territories.checkBillingCountry({ billingCountry })).not.toThrow();
    }
  });
});

describe('a model that no provider may serve to the caller', () => {
  const { territories } = made();
  const { routes } = smallSnapshot();
  const [first, , third] = [...routes.values()];
  const territory = territoryOfCode('UA-43');

  it('of a pin names provider, territory and the way out', () => {
    const id = 'acme/meta/llama/defra';
    const error = territories.modelExcluded({ id, kind: 'pin', excluded: [first!], territory });
    expect([error.status, error.param]).toEqual([451, 'model']);
    expect(error.message).toBe(
      '"acme/meta/llama/defra" is not available to callers in Crimea (UA-43): the terms of acme exclude them. "auto/meta/llama" lets another provider serve the request where one may. Retrying does not help.',
    );
  });

  it('of an auto/ id names every provider once', () => {
    const id = 'auto/meta/llama';
    const error = territories.modelExcluded({ id, kind: 'auto', excluded: [first!, first!, third!], territory });
    expect(error.message).toBe(
      '"auto/meta/llama" is not available to callers in Crimea (UA-43): the terms of acme and zeta exclude them. Choose a model that another provider serves. Retrying does not help.',
    );
  });

  it('does not list providers without end', () => {
    const excluded = Array.from({ length: 30 }, (_, i) => ({
      ...first!,
      provider: { ...first!.provider, id: `p${i}` },
    }));
    const { message } = territories.modelExcluded({ id: 'auto/meta/llama', kind: 'auto', excluded, territory });
    expect(message).toContain('the terms of p0, p1, p2, p3, p4, p5, p6, p7 and 22 more exclude them');
  });
});

describe('as configured', () => {
  it('works with the defaults: the bundled database and the built-in list', async () => {
    const config = loadConfig({ env: {}, cwd: '/nonexistent' });
    const territories = await Territories.open(config, silentLogger);
    const { territory } = territories.originOf('200.55.128.1', { rawHeaders: ['x-forwarded-for', '8.8.8.8'] });
    expect(refusal(() => territories.checkCaller(territory)).message).toContain('Cuba (CU)');
    expect(territories.originOf('127.0.0.1', { rawHeaders: ['x-forwarded-for', '200.55.128.1'] }).territory).toBe(
      unknownTerritory,
    );
  });
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
