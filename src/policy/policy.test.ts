import { describe, expect, it } from 'vitest';
import { GatewayError } from '../errors/gateway-error.js';
import { defaultPolicy, policyJson, policyOfStored, policyToStore, readPolicy } from './policy.js';

const full = {
  deny_cloud_act: true,
  max_carbon: 62.5,
  max_price: 0.29,
  providers: { allow: ['acme', 'zeta'], deny: ['omega'] },
  creators: { allow: [], deny: ['meta'] },
  regions: { allow: ['defra', 'FR'], deny: [] },
  deny_training: true,
  max_retention_days: 30,
  require_in_region: true,
  require_eu_owned: true,
  certifications: ['soc2', 'c5'],
  quantizations: ['bf16'],
  prefer: 'carbon',
};

function refusal(body: Record<string, unknown>): GatewayError {
  try {
    readPolicy(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(body)} was accepted`);
}

describe('policyJson', () => {
  it('gives the default in the exact form and order of the documentation', () => {
    // Of the fields that clients know today: a new gate adds one.
    const known = ['object', ...Object.keys(full)];
    const fields = Object.entries(policyJson(defaultPolicy)).filter(([name]) => known.includes(name));
    expect(JSON.stringify(Object.fromEntries(fields))).toBe(
      '{"object":"routing_policy","deny_cloud_act":false,"max_carbon":null,"max_price":null,"providers":{"allow":[],"deny":[]},"creators":{"allow":[],"deny":[]},"regions":{"allow":[],"deny":[]},"deny_training":false,"max_retention_days":null,"require_in_region":false,"require_eu_owned":false,"certifications":[],"quantizations":[],"prefer":"balanced"}',
    );
  });
});

describe('readPolicy', () => {
  it('reads every field, and what it gives can be sent back', () => {
    const policy = readPolicy(full);
    expect(policy).toMatchObject(full);
    expect(readPolicy({ ...policyJson(policy) })).toEqual(policy);
  });

  it.each([
    [{}],
    [{ object: 'routing_policy' }],
    [{ deny_cloud_act: null, max_carbon: null, providers: null, prefer: null }],
    [{ ...policyJson(defaultPolicy) }],
    [{ regions: { allow: [], deny: null } }],
    [{ creators: {} }],
  ])('gives the one default object for %j: an absent field, or null, is its default', (body) => {
    expect(readPolicy(body)).toBe(defaultPolicy);
  });

  it('keeps a preference without any gate', () => {
    expect(readPolicy({ prefer: 'latency' })).toEqual({ ...defaultPolicy, prefer: 'latency' });
  });

  it('gives an object that nobody can change', () => {
    const policy = readPolicy(full);
    expect([policy, policy.providers, policy.providers.allow, defaultPolicy, defaultPolicy.regions.deny]).toSatisfy(
      (parts: object[]) => parts.every(Object.isFrozen),
    );
  });

  it('writes locodes in lower case, countries in upper case, providers and creators in lower case, each once', () => {
    const policy = readPolicy({
      regions: { allow: ['DEFRA', 'de', 'DE', 'defra'], deny: ['UsNyC', 'fr', 'uk'] },
      providers: { deny: ['Acme', 'acme'] },
      creators: { deny: ['Meta'] },
    });
    expect(policy.regions).toEqual({ allow: ['defra', 'DE'], deny: ['usnyc', 'FR', 'GB'] });
    expect([policy.providers.deny, policy.creators.deny]).toEqual([['acme'], ['meta']]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['deny_cloud_act', { deny_cloud_act: 'yes' }, '"yes"'],
    ['deny_cloud_act', { deny_cloud_act: 1 }, '1'],
    ['max_carbon', { max_carbon: '100' }, '"100"'],
    ['max_carbon', { max_carbon: -1 }, '-1'],
    ['max_carbon', { max_carbon: Number.POSITIVE_INFINITY }, 'Infinity'],
    ['max_carbon', { max_carbon: true }, 'true'],
    ['max_price', { max_price: [1] }, 'an array'],
    ['max_price', { max_price: -0.000001 }, '-0.000001'],
    ['providers', { providers: ['acme'] }, 'an array'],
    ['providers', { providers: 'acme' }, '"acme"'],
    ['providers.allow', { providers: { allow: 'acme' } }, '"acme"'],
    ['providers.allow', { providers: { allow: ['acme', 5] } }, 'entry 1 is 5'],
    ['providers.allow', { providers: { allow: [''] } }, 'entry 0 is ""'],
    ['providers.deny', { providers: { deny: ['a/b'] } }, '"a/b"'],
    ['providers.deny', { providers: { deny: ['auto'] } }, '"auto"'],
    ['providers.alow', { providers: { alow: ['acme'] } }, 'allow and deny'],
    ['creators.allow', { creators: { allow: [null] } }, 'entry 0 is null'],
    ['creators.deny', { creators: { deny: ['me ta'] } }, '"me ta"'],
    ['regions.allow', { regions: { allow: ['Germany'] } }, '"Germany"'],
    ['regions.allow', { regions: { allow: ['global'] } }, '"global" is no region'],
    ['regions.deny', { regions: { deny: { DE: true } } }, 'an object'],
    ['prefer', { prefer: 'cheap' }, 'balanced, price, latency, carbon'],
    ['prefer', { prefer: 5 }, '5'],
    ['max_co2', { max_co2: 5 }, 'max_carbon'],
    ['__proto__', JSON.parse('{"__proto__":{"deny_cloud_act":true}}') as Record<string, unknown>, 'not a field'],
  ])('400 with param %s for %j, which names the value', (param, body, says) => {
    const error = refusal(body);
    expect({ status: error.status, code: error.row.code, param: error.param }).toEqual({
      status: 400,
      code: 'invalid_request_error',
      param,
    });
    expect(error.message).toContain(says);
  });

  it('cuts the name of an unknown field, however long', () => {
    expect(refusal({ ['x'.repeat(100_000)]: 1 }).message.length).toBeLessThan(400);
    expect(refusal({ regions: { ['x'.repeat(100_000)]: 1 } }).message.length).toBeLessThan(400);
  });
});

describe('policyOfStored', () => {
  it('gives back what was stored', () => {
    const policy = readPolicy(full);
    expect(policyOfStored(JSON.parse(JSON.stringify(policyToStore(policy))))).toEqual(policy);
    expect(policyToStore(defaultPolicy)).toBeNull();
    expect(policyOfStored(null)).toBe(defaultPolicy);
  });

  it('reads what another version stored: missing fields are defaults, unknown ones are left out', () => {
    expect(policyOfStored({ max_carbon: 50, max_water: 3, prefer: 'wind' })).toEqual({
      ...defaultPolicy,
      max_carbon: 50,
    });
  });

  it.each([5, 'text', [], true])('never throws: %j is the default', (stored) => {
    expect(policyOfStored(stored)).toBe(defaultPolicy);
  });

  it('never opens a gate that it cannot read', () => {
    const unreadable = {
      deny_cloud_act: 'yes',
      max_carbon: 'low',
      max_price: -5,
      providers: 'acme',
      regions: { deny: 5 },
    };
    expect(policyOfStored(unreadable)).toEqual({
      ...defaultPolicy,
      deny_cloud_act: true,
      max_carbon: 0,
      max_price: 0,
      providers: { allow: ['unreadable'], deny: [] },
      regions: { allow: ['unreadable'], deny: [] },
    });
  });

  it('keeps entries that would not be taken today, so that an allow list does not become empty', () => {
    expect(policyOfStored({ providers: { allow: ['Old Name'] } }).providers.allow).toEqual(['Old Name']);
  });
});
