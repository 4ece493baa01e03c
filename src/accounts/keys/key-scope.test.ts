import { describe, expect, it } from 'vitest';
import { routeWith } from '../../../tests/support/policy-routes.js';
import type { Route } from '../../catalogue/route.js';
import { type ApiKey, type KeyTerms, openTerms } from '../../domain/account.js';
import { addressRefusal, applyKeyScope, modelRefusal } from './token.js';

const keyWith = (terms: Partial<KeyTerms>): ApiKey => ({
  ...{ id: 'k', accountId: 'a', name: 'k', lastFour: 'wxyz', hash: null, expiresAt: null, createdAt: 0 },
  ...{ projectId: null, holderId: null },
  terms: { ...openTerms, ...terms },
});
const route: Route = { ...routeWith(), id: 'acme/meta/llama/defra' };
const pin = { id: 'acme/meta/llama/defra', kind: 'pin', routes: [route] } as const;
const auto = { id: 'auto/meta/llama', kind: 'auto', routes: [route] } as const;
const refused = (terms: Partial<KeyTerms>, of: typeof pin | typeof auto) =>
  modelRefusal(keyWith(terms), of)?.condition ?? null;

describe('allowed_models', () => {
  it.each([
    ['acme/meta/llama/defra', true, false],
    ['acme/meta/llama/usnyc', false, false],
    ['acme/meta/llama', true, false],
    ['zeta/meta/llama', false, false],
    ['auto/meta/llama', false, true],
    ['auto/meta/other', false, false],
    ['meta/llama', true, true],
    ['meta/other', false, false],
    ['meta/*', true, true],
    ['qwen/*', false, false],
  ])('%s admits the pin: %s, the auto/ id: %s', (entry, admitsPin, admitsAuto) => {
    expect(refused({ allowedModels: [entry] }, pin)).toBe(admitsPin ? null : 'key_scope');
    expect(refused({ allowedModels: [entry] }, auto)).toBe(admitsAuto ? null : 'key_scope');
    expect(refused({ allowedModels: ['x/y', entry] }, pin)).toBe(admitsPin ? null : 'key_scope');
  });

  it('judges an alias by its target, and names the id that was asked for', () => {
    const alias = { ...pin, id: 'alias/fast' };
    expect(modelRefusal(keyWith({ allowedModels: ['acme/meta/llama'] }), alias)).toBeNull();
    const models = ['a/b', 'c/d', 'e/f', 'g/h', 'i/j', 'k/l'];
    const { message } = modelRefusal(keyWith({ allowedModels: models }), alias)!;
    expect(message).toContain('"alias/fast": its allowed_models are a/b, c/d, e/f, g/h, i/j and 1 more');
  });
});

describe('allowed_providers', () => {
  it('refuse a pin, and leave an auto/ id to the gate', () => {
    expect(refused({ allowedProviders: ['zeta'] }, pin)).toBe('key_scope');
    expect(refused({ allowedProviders: ['acme'] }, pin)).toBeNull();
    expect(refused({ allowedProviders: ['zeta'] }, auto)).toBeNull();
  });

  it('remove candidates of other providers, and give the same arrays each time', () => {
    const other = routeWith({ provider: 'zeta' });
    const routes = [route, other];
    const key = keyWith({ allowedProviders: ['zeta'] });
    const gated = applyKeyScope(key, routes);
    expect(gated).toEqual({ eligible: [other], removed: [{ route, gate: 'key_scope' }] });
    expect(applyKeyScope(key, routes)).toBe(gated);
    expect(applyKeyScope(keyWith({ allowedProviders: ['zeta', 'acme'] }), routes).eligible).toBe(routes);
    expect(applyKeyScope(keyWith({}), routes).eligible).toBe(routes);
  });
});

describe('allowed_ips', () => {
  it.each([
    ['10.1.2.3', true],
    ['11.1.2.3', false],
    ['2001:db8::5', true],
    ['2001:db9::5', false],
    ['', false],
  ])('%s: %s', (address, allowed) => {
    const refusal = addressRefusal(keyWith({ allowedIps: ['10.0.0.0/8', '2001:db8::/32'] }), address);
    expect(refusal?.condition ?? null).toBe(allowed ? null : 'key_address_scope');
  });

  it('null is everywhere', () => expect(addressRefusal(keyWith({}), '')).toBeNull());
});

it('a management key calls no model', () => {
  const key = keyWith({ kind: 'management' });
  expect(modelRefusal(key, pin)?.condition).toBe('key_kind_scope');
  expect(modelRefusal(key, { ...pin, routes: [] })?.message).toContain('management key');
});
