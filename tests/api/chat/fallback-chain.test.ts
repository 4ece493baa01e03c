import { describe, expect, it } from 'vitest';
import {
  broken,
  costOf,
  expectReceipt,
  failing,
  type Lane,
  metadataOf,
  type Name,
  rejecting,
  spent,
  useRouting,
} from '../../support/routing.js';
import { expectError } from '../harness.js';

const routing = useRouting();
const chain = (...models: string[]) => ({ fallback: { models } });

/** Two models of one account: the primary, served by alpha and beta, and the one to fall back to, by gamma and delta. */
async function pair(): Promise<[Lane, Lane]> {
  const primary = await routing.lane(['alpha', 'beta']);
  return [primary, await routing.lane(['gamma', 'delta'], { account: primary.account })];
}

function breakAll(...names: Name[]): void {
  for (const name of names) routing.on(name, broken);
}

describe('a request’s own chain', () => {
  it('is not touched while the primary serves, also by its second candidate', async () => {
    const [primary, other] = await pair();
    breakAll('alpha');
    const { json } = await primary.chat(chain(other.auto));
    expect(json.router_metadata).toEqual(metadataOf(primary, 'beta', ['alpha', 'beta']));
  });

  it('is walked when the primary failed: attempts of all, fallback_occurred, exact metadata, one charge', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'beta', 'gamma');
    const reply = await primary.chat(chain(other.auto));
    expect(routing.called).toEqual(['alpha', 'beta', 'gamma', 'delta']);
    const attempted = ['alpha', 'beta', 'gamma', 'delta'] as const;
    const expected = metadataOf(other, 'delta', attempted, { requested_model: primary.auto });
    expect(reply.json.router_metadata).toEqual(expected);
    expect(reply.json.model).toBe(other.pin('delta'));
    expect(await primary.charges()).toEqual([{ generation: reply.json.id, pico: costOf('delta') }]);
    expect(await primary.record()).toMatchObject({
      ...{ requested_model: primary.auto, served_model: other.pin('delta'), fallback_occurred: true },
      providers_attempted: attempted,
    });
  });

  it.each<[string, (primary: Lane, other: Lane) => string | Promise<string>, Name[]]>([
    ['auto/', (_, other) => other.auto, ['alpha', 'gamma']],
    ['a pin of four segments', (_, other) => other.pin('delta'), ['alpha', 'delta']],
    ['a pin of three segments', (_, other) => `delta/meta/${other.model}`, ['alpha', 'delta']],
    ['an alias to auto/', (_, other) => other.alias('auto', other.auto), ['alpha', 'gamma']],
    ['an alias to a pin', (_, other) => other.alias('pin', other.pin('delta')), ['alpha', 'delta']],
    ['another route of the same model', (primary) => primary.pin('beta'), ['alpha', 'beta']],
  ])('an entry may be %s, after a pin that failed', async (_form, entryOf, expected) => {
    const [primary, other] = await pair();
    const entry = await entryOf(primary, other);
    breakAll('alpha');
    const reply = await primary.chat({ model: primary.pin('alpha'), ...chain(entry) });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json.router_metadata).toMatchObject({ providers_attempted: expected, fallback_occurred: true });
    expect(routing.called).toEqual(expected);
  });

  it('each entry goes by its own rules: a pin is not retried, an auto/ walks', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'beta', 'gamma');
    const reply = await primary.chat(chain(other.pin('gamma'), other.auto));
    expect(reply.json.router_metadata.providers_attempted).toEqual(['alpha', 'beta', 'gamma', 'gamma', 'delta']);
  });

  it('the primary’s alias stays the requested one', async () => {
    const [primary, other] = await pair();
    const alias = await primary.alias('mine', primary.pin('alpha'));
    breakAll('alpha');
    const { json } = await primary.chat({ model: alias, ...chain(other.pin('gamma')) });
    expect(json.router_metadata).toMatchObject({ requested_model: alias, served_model: other.pin('gamma') });
  });

  it('a stream falls back too, before its first content', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'beta');
    const reply = await primary.stream(chain(other.auto));
    expect([reply.status, reply.content]).toEqual([200, 'one two three']);
    const attempted = ['alpha', 'beta', 'gamma'] as const;
    const expected = metadataOf(other, 'gamma', attempted, { requested_model: primary.auto });
    expect((reply.frames[0]!.json as Record<string, unknown>).router_metadata).toEqual(expected);
  });

  it('breakers skipped along the way are in the metadata; fallback_occurred also where nobody failed', async () => {
    const [primary, other] = await pair();
    await primary.open('alpha');
    await primary.open('beta');
    const { json } = await primary.chat(chain(other.auto));
    expect(json.router_metadata).toMatchObject({
      ...{ providers_attempted: ['gamma'], fallback_occurred: true },
      breaker_skipped: ['alpha/defra', 'beta/frpar'],
    });
  });
});

describe('after which failures of the primary the chain is walked', () => {
  it('after a spent quota, a soft-disabled model, a provider without credentials, a route without a price', async () => {
    const primary = await routing.lane({ alpha: {}, keyless: {}, beta: { price: undefined } });
    const other = await routing.lane(['gamma'], { account: primary.account });
    const serves = async (model: string) => {
      const { json } = await primary.chat({ model, ...chain(other.auto) });
      expect(json.router_metadata, model).toMatchObject({ provider: 'gamma', fallback_occurred: true });
    };
    await serves(primary.pin('keyless'));
    await serves(primary.pin('beta'));
    routing.on('alpha', spent);
    await serves(primary.pin('alpha'));
    await serves(primary.pin('alpha'));
    await serves(primary.auto);
    await primary.state('soft_disabled', 'under repair');
    await serves(primary.auto);
    expect(routing.called).toEqual(['gamma', 'gamma', 'alpha', 'gamma', 'gamma', 'gamma', 'gamma']);
  });

  it.each<[string, (primary: Lane) => Promise<[model: string, status: number]>]>([
    [
      'an upstream’s rejection of the request',
      async (primary) => {
        routing.on('alpha', rejecting);
        return [primary.auto, 400];
      },
    ],
    [
      'a 403 of the policy',
      async (primary) => {
        await primary.policy({ providers: { allow: ['gamma'] } });
        return [primary.auto, 403];
      },
    ],
    [
      'a model that is disabled',
      async (primary) => {
        await primary.state('disabled');
        return [primary.auto, 404];
      },
    ],
    ['a region that is not served', async (primary) => [primary.pin('alpha', 'usnyc'), 404]],
    ['a model that nobody knows', async () => ['auto/meta/none', 404]],
  ])('never after %s', async (_what, prepare) => {
    const [primary, other] = await pair();
    const [model, status] = await prepare(primary);
    expect((await primary.chat({ model, ...chain(other.pin('gamma')) })).status).toBe(status);
    expect(routing.called).not.toContain('gamma');
  });

  it('never after a parameter that the primary cannot apply', async () => {
    const primary = await routing.lane({ alpha: { capabilities: [] }, beta: {} });
    const reply = await primary.chat({ model: primary.pin('alpha'), n: 2, ...chain(primary.pin('beta')) });
    expect([reply.status, routing.called]).toEqual([400, []]);
  });
});

describe('what a chain that served nobody answers', () => {
  it('the failure of the last entry tried: an auto/ entry has its receipt, with the attempts of all', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'gamma');
    routing.on('delta', failing(503, 'closed today'));
    const reply = await primary.chat({ model: primary.pin('alpha'), ...chain(other.auto) });
    const receipt = { attempted: ['alpha', 'gamma', 'delta'], last: 'closed today (HTTP 503)' };
    expectReceipt(reply, 'provider_error', receipt);
    expect(await primary.charges()).toEqual([]);
    expect(await primary.record()).toMatchObject({ status: 503, providers_attempted: ['alpha', 'gamma', 'delta'] });
  });

  it('a pin as the last entry answers as a pin does', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'beta');
    await other.hold('gamma');
    breakAll('alpha', 'beta');
    const reply = await primary.chat(chain(other.pin('gamma')));
    expect([reply.status, reply.json.error.code]).toEqual([503, 'provider_quota_exhausted']);
    expect(Number(reply.headers['retry-after'])).toBeGreaterThan(0);
  });

  it('an upstream’s rejection in the chain stops it: 400', async () => {
    const [primary, other] = await pair();
    breakAll('alpha', 'beta');
    routing.on('gamma', rejecting);
    const reply = await primary.chat(chain(other.pin('gamma'), other.pin('delta')));
    const row = { status: 400, type: 'invalid_request_error', code: 'invalid_request_error' };
    expectError(reply, { ...row, says: [/^The provider gamma rejected the request/] });
    expect(routing.called).toEqual(['alpha', 'beta', 'gamma']);
  });
});
