import { describe, expect, it } from 'vitest';
import { smallSnapshot } from '../../../tests/support/snapshot.js';
import type { ModelAvailability, Snapshot } from '../../catalogue/route.js';
import type { Account, Alias } from '../../domain/account.js';
import { noCredentials } from '../../domain/credential.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { checkChain } from './check-chain.js';

const alias = (provider: string, canonicalId: string, locode: string | null): Alias => ({
  ...{ name: 'x', provider, canonicalId, locode, createdAt: 0, updatedAt: 0 },
});
const account = {
  aliases: new Map([
    ['fast', alias('acme', 'meta/llama', 'defra')],
    ['any', alias('auto', 'meta/llama', null)],
    ['gone', alias('acme', 'meta/withdrawn', 'defra')],
  ]),
  credentials: noCredentials,
} as unknown as Account;

function statesOf(states: Record<string, ModelAvailability['state']>) {
  return { get: (id: string): ModelAvailability => ({ state: states[id] ?? 'available', reason: null }) };
}
const allAvailable = statesOf({});

function refusal(entries: string[], states = allAvailable, snapshot: Snapshot = smallSnapshot()): GatewayError {
  try {
    checkChain(entries, account, snapshot, states);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error(`${entries} was accepted`);
}

describe('checkChain', () => {
  it.each([
    [[]],
    [['auto/meta/llama']],
    [['acme/meta/llama']],
    [['acme/meta/llama/DEFRA', 'zeta/meta/llama/global']],
    [['alias/fast', 'alias/any']],
    [['auto/meta/llama', 'auto/meta/llama']],
  ])('accepts %j', (entries) => {
    expect(() => checkChain(entries, account, smallSnapshot(), allAvailable)).not.toThrow();
  });

  it.each([
    ['auto/meta/nothing', 'the catalogue has no model "meta/nothing"'],
    ['acme/meta/nothing', 'the catalogue has no model "meta/nothing"'],
    ['nobody/meta/llama', 'the catalogue has no provider "nobody"'],
    ['acme/meta/llama/jptyo', 'pins the region jptyo, where this model is not served. It is served in: defra, usnyc'],
    ['acme/meta/llama/global', 'served only in specific regions: defra, usnyc'],
    ['llama', 'has 1 segment, but needs 3 or 4'],
    ['', 'has 0 segments'],
    ['auto/meta/llama/defra', 'an auto/ id takes exactly 3'],
    ['alias/nothing', 'no alias "nothing"'],
    ['alias/Bad Name', 'not allowed'],
    ['alias/gone', 'the catalogue has no model "meta/withdrawn"'],
    ['bare/meta/llama/global', 'The provider bare has no credentials configured'],
    ['acme/meta/unpriced/global', 'no published price'],
    ['auto/meta/unpriced', 'no published price'],
  ])('400 invalid_fallback_model for "%s", in the router’s own words', (entry, says) => {
    const error = refusal(['auto/meta/llama', entry]);
    expect({ status: error.status, type: error.row.type, code: error.row.code, param: error.param }).toEqual({
      status: 400,
      type: 'invalid_request_error',
      code: 'invalid_fallback_model',
      param: 'fallback.models',
    });
    expect(error.message).toContain(`The fallback entry "${entry}" cannot be used: `);
    expect(error.message).toContain(says);
  });

  it('refuses an auto/ id none of whose routes is both configured and priced', () => {
    const snapshot = smallSnapshot();
    const llama = snapshot.models.get('meta/llama')!;
    const routes = llama.routes.map((route) => ({ ...route, price: route.provider.configured ? null : route.price }));
    const models = new Map([['meta/llama', { ...llama, routes }]]);
    const error = refusal(['auto/meta/llama'], allAvailable, { ...snapshot, models });
    expect(error.message).toContain('none of its routes has both a configured provider and a published price');
  });

  it('names the first entry that cannot be used', () => {
    expect(refusal(['auto/a/first', 'auto/a/second']).message).toContain('"auto/a/first"');
  });

  it('cuts an entry, however long, and takes its control characters out', () => {
    expect(refusal(['x'.repeat(100_000)]).message.length).toBeLessThan(600);
    expect(refusal(['a\nb']).message).not.toContain('\n');
  });

  it('refuses a disabled model and accepts a soft-disabled one, also when it has seen the id before', () => {
    const snapshot = smallSnapshot();
    const disabled = statesOf({ 'meta/llama': 'disabled' });
    for (const entry of ['auto/meta/llama', 'acme/meta/llama/defra', 'alias/any']) {
      checkChain([entry], account, snapshot, allAvailable);
      expect(refusal([entry], disabled, snapshot).message).toContain('is disabled');
      checkChain([entry], account, snapshot, statesOf({ 'meta/llama': 'soft_disabled' }));
    }
  });

  it('forgets what an older snapshot served', () => {
    checkChain(['auto/meta/llama'], account, smallSnapshot(), allAvailable);
    const without: Snapshot = { ...smallSnapshot(), models: new Map() };
    expect(refusal(['auto/meta/llama'], allAvailable, without).message).toContain('no model "meta/llama"');
  });

  it('looks at an alias anew each time: it is the account’s own, and it moves', () => {
    const snapshot = smallSnapshot();
    const mover = { aliases: new Map([['a', alias('auto', 'meta/llama', null)]]) } as unknown as Account;
    checkChain(['alias/a'], mover, snapshot, allAvailable);
    mover.aliases.set('a', alias('acme', 'meta/withdrawn', 'defra'));
    expect(() => checkChain(['alias/a'], mover, snapshot, allAvailable)).toThrow('meta/withdrawn');
    expect(() =>
      checkChain(['alias/a'], { aliases: new Map(), credentials: noCredentials }, snapshot, allAvailable),
    ).toThrow('no alias "a"');
  });
});
