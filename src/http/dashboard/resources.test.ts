import { beforeAll, describe, expect, it } from 'vitest';
import { BrowserSession } from '../../../tests/support/browser-session.js';
import { type HttpFixture, httpFixture } from '../../../tests/support/http-fixture.js';
import { gates } from '../../policy/gates/index.js';

let fixture: HttpFixture;
let ada: BrowserSession;
let bob: BrowserSession;
beforeAll(async () => {
  fixture = await httpFixture();
  [ada, bob] = [new BrowserSession(fixture.app), new BrowserSession(fixture.app)];
  await ada.call('POST', 'sign-up', { email: 'ada@example.com', password: 'correct horse 77' });
  await bob.call('POST', 'sign-up', { email: 'bob@example.com', password: 'correct horse 77' });
});

describe('without a session', () => {
  it.each([
    'overview',
    'keys',
    'catalogue',
    'usage/facets',
    'project-names',
    'usage.csv',
    'credits',
    'ledger',
    'v1/models',
    'v1/aliases',
    'v1/fallback',
    'v1/routing-policy',
    'v1/generations',
    'v1/credits',
    'operator/accounts',
    'operator/routes',
    'operator/routes/history',
    'models/meta/llama/history',
    'operator/audit',
  ])('GET %s is 401 session_required, also with an API key', async (path) => {
    for (const headers of [{}, fixture.asKey]) {
      const answer = await new BrowserSession(fixture.app).call('GET', path, undefined, { headers });
      expect([answer.statusCode, answer.json().error.code]).toEqual([401, 'session_required']);
    }
  });
});

describe('keys', () => {
  it('are created with the token shown once, listed without it, and deleted', async () => {
    const made = (await ada.call('POST', 'keys', { name: 'laptop', expires: '30d' })).json();
    expect(made.token).toMatch(/^sk-lr-[\w-]{43}$/);
    expect(made).toMatchObject({ name: 'laptop', prefix: 'sk-lr-', state: 'active', usage_usd: '0' });
    const list = await ada.call('GET', 'keys');
    expect(list.body).not.toContain(made.token);
    expect(list.json().data[0]).toMatchObject({
      id: made.id,
      last_four: made.token.slice(-4),
      imported_from: null,
      label: `sk-lr-…${made.token.slice(-4)}`,
    });
    const asKey = { authorization: `Bearer ${made.token}` };
    expect((await fixture.app.inject({ url: '/v1/credits', headers: asKey })).statusCode).toBe(200);
    expect((await ada.call('DELETE', `keys/${made.id}`)).statusCode).toBe(204);
    expect((await fixture.app.inject({ url: '/v1/credits', headers: asKey })).statusCode).toBe(401);
  });

  it('a name is text, whatever it looks like', async () => {
    const name = '<img src=x onerror="alert(1)">';
    await ada.call('POST', 'keys', { name });
    const list = await ada.call('GET', 'keys');
    expect(list.json().data.map((key: { name: string }) => key.name)).toContain(name);
    expect(list.headers['content-type']).toMatch(/^application\/json/);
    expect(list.headers['x-content-type-options']).toBe('nosniff');
  });

  it('a key that has expired is listed as such', async () => {
    const { id } = (await ada.call('POST', 'keys', { name: 'short', expires: '7d' })).json();
    fixture.clock.advance(7 * 86_400_000);
    const list = (await ada.call('GET', 'keys')).json().data as { id: string; state: string }[];
    expect(list.find((key) => key.id === id)?.state).toBe('expired');
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: 'x', expires: '13mo' }, 'expires'],
    [{ name: 'x', account: 'y' }, 'account'],
  ])('400 for %j, naming %s', async (body, param) => {
    expect((await ada.call('POST', 'keys', body)).json().error).toMatchObject({ code: 'invalid_request_error', param });
  });
});

describe('what belongs to another account', () => {
  it('is the same 404 as what does not exist', async () => {
    const { id } = (await ada.call('POST', 'keys', { name: 'hers' })).json();
    await ada.call('POST', 'v1/aliases', { name: 'hers', target: 'auto/meta/llama' });
    const { id: adaId } = (await ada.call('GET', 'session')).json().account;
    const generation = 'gen-0123456789abcdefghjkmnpqrs';
    fixture.store.generationRows.set(generation, { ...row(generation, adaId), requestedModel: 'auto/meta/llama' });
    expect((await ada.call('GET', `v1/generation/${generation}`)).statusCode).toBe(200);
    const pairs: [string, string, string, unknown?][] = [
      ['DELETE', `keys/${id}`, 'keys/AAAAAAAAAA'],
      ['GET', 'v1/aliases/hers', 'v1/aliases/none'],
      ['DELETE', 'v1/aliases/hers', 'v1/aliases/none'],
      ['GET', `v1/generation/${generation}`, 'v1/generation/gen-missing'],
    ];
    for (const [method, hers, missing] of pairs) {
      const [a, b] = [await bob.call(method, hers), await bob.call(method, missing)];
      expect([a.statusCode, a.json().error.code], hers).toEqual([b.statusCode, b.json().error.code]);
      expect(a.statusCode).toBe(404);
    }
    expect((await bob.call('GET', `usage.csv`)).body.trim().split('\r\n')).toHaveLength(1);
    expect((await bob.call('GET', 'ledger')).json().data).toEqual([]);
    expect((await bob.call('GET', `operator/accounts/${adaId}`)).statusCode).toBe(403);
    expect((await ada.call('GET', 'keys')).json().data.some((key: { id: string }) => key.id === id)).toBe(true);
  });
});

describe('a suspended account', () => {
  it('may look, but change nothing', async () => {
    const eve = new BrowserSession(fixture.app);
    const { id } = (
      await eve.call('POST', 'sign-up', { email: 'eve@example.com', password: 'correct horse 77' })
    ).json().account;
    await fixture.directory.updateAccount('operator', id, { status: 'suspended' });
    expect((await eve.call('GET', 'ledger')).statusCode).toBe(200);
    for (const [method, path] of [
      ['POST', 'keys'],
      ['PUT', 'v1/routing-policy'],
      ['POST', 'playground/chat'],
    ] as const) {
      expect((await eve.call(method, path, { name: 'x' })).json().error.code).toBe('account_suspended');
    }
    expect((await eve.call('POST', 'sign-out', {})).statusCode).toBe(204);
  });
});

describe('the account’s own API behind the session', () => {
  it('aliases, chain and policy are those that a key of the account sees', async () => {
    const { token } = (await ada.call('POST', 'keys', { name: 'reader' })).json();
    const headers = { authorization: `Bearer ${token}` };
    const policy = (await ada.call('PUT', 'v1/routing-policy', { max_carbon: 400, prefer: 'carbon' })).json();
    expect(policy).toMatchObject({ object: 'routing_policy', max_carbon: 400, prefer: 'carbon' });
    expect((await fixture.app.inject({ url: '/v1/routing-policy', headers })).json()).toEqual(policy);
    const chain = (await ada.call('PUT', 'v1/fallback', { fallback: { models: ['auto/meta/llama'] } })).json();
    expect((await fixture.app.inject({ url: '/v1/fallback', headers })).json()).toEqual(chain);
    const models = (await ada.call('GET', 'v1/models')).json();
    expect((await fixture.app.inject({ url: '/v1/models', headers })).json()).toEqual(models);
    expect((await ada.call('DELETE', 'v1/routing-policy')).statusCode).toBe(204);
  });
});

describe('the catalogue', () => {
  it('says of each route whether it is served, and why it is not', async () => {
    const { data, providers } = (await ada.call('GET', 'catalogue')).json();
    const routes = data.flatMap((model: { routes: object[] }) => model.routes) as {
      id: string;
      why_not: string | null;
    }[];
    const whyNot = Object.fromEntries(routes.map(({ id, why_not }) => [id, why_not]));
    expect(whyNot).toMatchObject({
      'acme/meta/llama/defra': null,
      'bare/meta/llama/global': 'unconfigured',
      'acme/meta/unpriced/global': 'unpriced',
    });
    expect(providers.map(({ id }: { id: string }) => id)).toContain('acme');
    fixture.holds.hold('acme/meta/llama/defra', 'upstream');
    const held = (await ada.call('GET', 'catalogue'))
      .json()
      .data[0].routes.find(({ id }: { id: string }) => id === 'acme/meta/llama/defra');
    expect(held).toMatchObject({ servable: false, why_not: 'held' });
    expect(held.held_until).toMatch(/T00:00:00\.000Z$/);
    await fixture.holds.lift('acme/meta/llama/defra');
  });

  it('gives prices in USD per million tokens, exact', async () => {
    const { data } = (await ada.call('GET', 'catalogue')).json();
    const route = data[0].routes.find(({ id }: { id: string }) => id === 'acme/meta/llama/defra');
    const known = fixture.deps.catalogue.current!.routes.get('acme/meta/llama/defra')!.price!;
    expect(Number(route.price.input) * 1e6).toBe(Number(known.input));
    expect(typeof route.price.output).toBe('string');
  });
});

describe('the preview of a policy', () => {
  const preview = async (policy: object, model = 'meta/llama') =>
    (await ada.call('POST', 'policy/preview', { model, policy })).json();

  it('describes every gate for its card', async () => {
    const { data } = (await ada.call('GET', 'policy/gates')).json();
    expect(data.map(({ name }: { name: string }) => name)).toEqual(gates.map(({ name }) => name));
    for (const { title, control } of data) {
      expect(title).not.toBe('');
      expect(['switch', 'ceiling', 'lists', 'choices']).toContain(control.kind);
    }
  });

  it('counts gate by gate what is left, in the gates’ order', async () => {
    const open = await preview({});
    expect(open.gates.map(({ gate }: { gate: string }) => gate)).toEqual(gates.map(({ name }) => name));
    expect([open.left, open.error, open.counterfactuals]).toEqual([open.total, null, []]);
    const narrowed = await preview({ providers: { allow: ['acme'] }, regions: { allow: ['DE'] } });
    const counts = Object.fromEntries(
      narrowed.gates.map(({ gate, removes, leaves }: Record<string, unknown>) => [gate, [removes, leaves]]),
    );
    expect(counts.providers[0] + counts.regions[0]).toBe(narrowed.total - narrowed.left);
    expect(counts.regions[1]).toBe(narrowed.left);
    expect(narrowed.eligible).toEqual(['acme/meta/llama/defra']);
  });

  it('explains an empty set with the error of a chat, and what would mend it', async () => {
    const empty = await preview({ providers: { allow: ['acme'], deny: ['acme'] } });
    expect(empty.left).toBe(0);
    expect(empty.error).toMatchObject({ code: 'routing_policy_exhausted', param: 'model' });
    expect(empty.error.message).toContain('providers removed');
    expect(empty.counterfactuals.length).toBeGreaterThan(0);
    expect(empty.counterfactuals[0]).toMatchObject({ gate: 'providers', admits: expect.any(Number) });
  });

  it('400 for a draft that could not be saved, 404 for a model that is not there; nothing is saved', async () => {
    expect((await preview({ max_carbon: 'low' })).error.param).toBe('max_carbon');
    expect((await preview({ typo: 1 })).error.param).toBe('typo');
    expect((await preview({}, 'meta/none')).error).toMatchObject({ code: 'not_found', param: 'model' });
    expect((await ada.call('GET', 'v1/routing-policy')).json().max_carbon).toBeNull();
  });
});

describe('the playground', () => {
  it('hands the request to the pipeline with the account’s identity and the key name playground', async () => {
    const given: unknown[] = [];
    const { dashboard } = fixture.deps;
    const own = await httpFixture({
      dashboard: {
        ...dashboard!,
        playground: (_door, _req, res, identity, requestId) => {
          given.push([identity.account.email, identity.key.name, identity.key.id.startsWith('session:'), requestId]);
          res.end('{}');
        },
      },
      store: fixture.store,
      directory: fixture.directory,
    });
    const browser = new BrowserSession(own.app);
    await browser.call('POST', 'sign-in', { email: 'ada@example.com', password: 'correct horse 77' });
    const answer = await browser.call('POST', 'playground/chat', { model: 'x', messages: [] });
    expect(answer.statusCode).toBe(200);
    expect(given).toEqual([['ada@example.com', 'playground', true, expect.stringMatching(/^req-/)]]);
  });
});

function row(id: string, accountId: string) {
  return {
    ...{ id, accountId, requestId: 'req-1', keyId: 'k', keyName: 'k', createdAt: fixture.clock.now() },
    ...{ servedModel: 'acme/meta/llama/defra', provider: 'acme', locode: 'defra', streamed: false, status: 200 },
    ...{ promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, costPico: 0n, billed: false },
    ...{ latencyMs: 1, firstByteMs: 1, providersAttempted: ['acme'], fallbackOccurred: false, finishReason: 'stop' },
    ...{ streamEnd: null, usageSource: 'provider' as const, errorCode: null, attempts: [], bill: null },
  };
}

it('an account that keeps replacing its keys makes 400 at once and then 10 a minute, because each key has limits of its own', async () => {
  const { app, clock } = await httpFixture({ ipLimiter: { take: () => {} } });
  const eve = new BrowserSession(app);
  await eve.call('POST', 'sign-up', { email: 'eve@example.com', password: 'correct horse 77' });
  const make = () => eve.call('POST', 'keys', { name: 'short-lived' });
  const makeAll = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, make));
    const made = answers.filter(({ statusCode }) => statusCode === 201);
    await Promise.all(made.map((answer) => eve.call('DELETE', `keys/${answer.json().id}`)));
    return { made: made.length, others: new Set(answers.map(({ statusCode }) => statusCode)) };
  };
  expect(await makeAll(210)).toEqual({ made: 200, others: new Set([201, 422]) });
  expect(await makeAll(200), 'the 422s took nothing').toMatchObject({ made: 200 });
  const refused = await make();
  expect([refused.statusCode, refused.json().error.code, refused.headers['retry-after']]).toEqual([
    429,
    'too_many_attempts',
    '6',
  ]);
  clock.advance(60_000);
  expect(await makeAll(11)).toEqual({ made: 10, others: new Set([201, 429]) });
}, 180_000);
