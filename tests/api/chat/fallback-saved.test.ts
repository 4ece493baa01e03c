import { describe, expect, it } from 'vitest';
import { broken, expectReceipt, type Lane, type Name, useRouting } from '../../support/routing.js';
import { badRequest, expectError } from '../harness.js';

const routing = useRouting();
const chain = (...models: string[]) => ({ fallback: { models } });
const last = 'out of order (HTTP 500)';

async function pair(): Promise<[Lane, Lane]> {
  const primary = await routing.lane(['alpha']);
  return [primary, await routing.lane(['gamma', 'delta'], { account: primary.account })];
}

function breakAll(...names: Name[]): void {
  for (const name of names) routing.on(name, broken);
}

describe('the saved chain', () => {
  it('is walked for a request without one of its own; deleted, no more', async () => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    breakAll('alpha');
    expect((await primary.chat()).json.router_metadata).toMatchObject({
      ...{ provider: 'gamma', providers_attempted: ['alpha', 'gamma'], fallback_occurred: true },
    });
    expect((await primary.chat({ fallback: null })).json.router_metadata?.provider).toBe('gamma');
    expect((await primary.call('DELETE', '/v1/fallback')).status).toBe(204);
    expectReceipt(await primary.chat(), 'provider_error', { attempted: ['alpha'], last });
  });

  it('[] in the request switches it off for that request', async () => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    breakAll('alpha');
    expectReceipt(await primary.chat(chain()), 'provider_error', { attempted: ['alpha'], last });
    expect(routing.called).toEqual(['alpha']);
    expect((await primary.chat()).status).toBe(200);
  });

  it('the request’s own replaces it: the saved entries are not tried', async () => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    breakAll('alpha', 'delta');
    const reply = await primary.chat(chain(other.pin('delta')));
    expect([reply.status, routing.called]).toEqual([503, ['alpha', 'delta']]);
  });

  it('is the account’s own', async () => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    breakAll('alpha');
    const { key } = await routing.gateway.createAccount();
    expect((await routing.gateway.chat(primary.body(), { key })).status).toBe(503);
  });
});

describe('entries that were withdrawn after the chain was saved are skipped', () => {
  const ways: [string, (other: Lane) => Promise<void>][] = [
    ['the model left the catalogue', (other) => routing.withdraw(other)],
    ['the route left the catalogue', (other) => routing.withdraw(other, ['delta'])],
    ['the model was disabled', (other) => other.state('disabled')],
  ];

  it.each(ways)('%s: the next entry serves, and the request does not fail', async (_what, withdraw) => {
    const [primary, other] = await pair();
    const third = await routing.lane(['epsilon'], { account: primary.account });
    await primary.saveChain(other.pin('gamma'), third.auto);
    await withdraw(other);
    breakAll('alpha');
    const { json } = await primary.chat();
    expect(json.router_metadata).toMatchObject({ provider: 'epsilon', providers_attempted: ['alpha', 'epsilon'] });
    expect(routing.called).toEqual(['alpha', 'epsilon']);
  });

  it.each(ways)('%s, and there is no other entry: the primary’s own failure answers', async (_what, withdraw) => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    await withdraw(other);
    breakAll('alpha');
    expectReceipt(await primary.chat(), 'provider_error', { attempted: ['alpha'], last });
    expect(routing.called).toEqual(['alpha']);
  });

  it.each(ways)('%s: a request that the primary serves does not notice', async (_what, withdraw) => {
    const [primary, other] = await pair();
    await primary.saveChain(other.pin('gamma'));
    await withdraw(other);
    expect((await primary.chat()).status).toBe(200);
  });

  it('an alias that was deleted since is skipped', async () => {
    const [primary, other] = await pair();
    await primary.saveChain(await other.alias('spare', other.auto), other.pin('delta'));
    expect((await primary.call('DELETE', '/v1/aliases/spare')).status).toBe(204);
    breakAll('alpha');
    expect((await primary.chat()).json.router_metadata.provider).toBe('delta');
  });

  it('but an entry that is disabled when it is sent is the 400 invalid_fallback_model', async () => {
    const [primary, other] = await pair();
    await other.state('disabled');
    expectError(await primary.chat(chain(other.auto)), {
      ...{ status: 400, type: 'invalid_request_error', code: 'invalid_fallback_model', param: 'fallback.models' },
      says: [other.auto],
    });
    expect(routing.called).toEqual([]);
  });
});

describe('what stops an entry, but not the chain', () => {
  it('an entry that the policy excludes is passed over', async () => {
    const [primary, other] = await pair();
    const third = await routing.lane(['epsilon'], { account: primary.account });
    await primary.policy({ providers: { deny: ['gamma', 'delta'] } });
    breakAll('alpha');
    const { json } = await primary.chat(chain(other.auto, third.auto));
    expect(json.router_metadata.providers_attempted).toEqual(['alpha', 'epsilon']);
    expectReceipt(await primary.chat(chain(other.auto)), 'provider_error', { attempted: ['alpha'], last });
  });

  it('a pin as an entry is not touched by the policy', async () => {
    const [primary, other] = await pair();
    await primary.policy({ providers: { deny: ['gamma', 'delta'] } });
    breakAll('alpha');
    expect((await primary.chat(chain(other.pin('gamma')))).json.router_metadata?.provider).toBe('gamma');
  });
});

describe('how long a chain may be', () => {
  it('ten entries are walked to the last', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'gamma');
    const entries = [...Array(9).fill(other.pin('gamma')), other.pin('delta')];
    const { json } = await primary.chat(chain(...entries));
    const attempted = ['alpha', ...Array(9).fill('gamma'), 'delta'];
    expect(json.router_metadata).toMatchObject({ provider: 'delta', providers_attempted: attempted });
  });

  it('eleven are a 400 on fallback.models, and nobody is called', async () => {
    const [primary, other] = await pair();
    expectError(await primary.chat(chain(...Array(11).fill(other.auto))), badRequest('fallback.models', '11'));
    expect(routing.called).toEqual([]);
  });
});
