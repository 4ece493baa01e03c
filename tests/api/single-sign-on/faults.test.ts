/** An identity provider that lies or is broken lets nobody in, hangs nothing, and what it did is named to the person and to the operator. */
import type { ServerResponse } from 'node:http';
import { exportSPKI, importJWK, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../support/client.js';
import { DashboardClient } from '../../support/dashboard-client.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { type Said, ScriptedProvider } from '../../support/scripted-provider.js';
import { begin, faultIn, newestRefusal, visit } from './visit.js';

let provider: ScriptedProvider;
let other: ScriptedProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await new ScriptedProvider().start();
  other = await new ScriptedProvider().start();
  const grants = [{ group: 'staff', operator: true }];
  const oidc = [provider.settings({ grants }), other.settings({ id: 'other', grants })];
  gateway = await startGateway({ config: { sign_in: { oidc } } });
});
beforeEach(() => provider.reset());
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([provider, other].map((each) => each?.stop()));
});

const ann = { sub: 'ann', email: 'ann@example.com', groups: ['staff'] };
const now = () => Math.floor(Date.now() / 1000);

async function expectFault(fault: string, act: (client: DashboardClient) => Promise<Reply>) {
  const client = new DashboardClient(gateway.url);
  const answer = await act(client);
  expect(faultIn(answer)).toBe(fault);
  expect(await newestRefusal(gateway)).toMatchObject({ fault });
  expect((await client.call('GET', 'session')).json.signed_in).toBe(false);
}

const comesBack = (said: Said) => (client: DashboardClient) => visit(client, provider, { claims: ann, ...said });
const withClaims = (claims: Record<string, unknown>) => comesBack({ claims: { ...ann, ...claims } });

it('lets the same person in who tells the truth', async () => {
  const client = new DashboardClient(gateway.url);
  expect(faultIn(await visit(client, provider, { claims: ann }))).toBeNull();
  expect((await client.call('GET', 'session')).json).toMatchObject({
    signed_in: true,
    operator: true,
    operator_by: 'group',
  });
});

describe('a token that is not for this sign-in', () => {
  const cases: [string, string, Record<string, unknown>][] = [
    ['of an hour ago', 'wrong_clock', { iat: now() - 3600, exp: now() - 3000 }],
    ['of an hour ago that still holds', 'wrong_clock', { iat: now() - 3600, exp: now() + 3600 }],
    ['of an hour ahead', 'wrong_clock', { iat: now() + 3600, exp: now() + 7200 }],
    ['not before an hour', 'wrong_clock', { nbf: now() + 3600 }],
    ['without iat', 'provider_answer', { iat: undefined }],
    ['without exp', 'provider_answer', { exp: undefined }],
    ['for another client', 'wrong_audience', { aud: 'another' }],
    ['for two clients without azp', 'wrong_audience', { aud: ['lodestone', 'another'] }],
    ['with another azp', 'wrong_audience', { azp: 'another' }],
    ['with another azp among two', 'wrong_audience', { aud: ['lodestone', 'another'], azp: 'another' }],
    ['of another issuer', 'wrong_issuer', { iss: 'https://evil.example.com' }],
    ['with another nonce', 'wrong_nonce', { nonce: 'another' }],
    ['without a nonce', 'wrong_nonce', { nonce: undefined }],
    ['without sub', 'provider_answer', { sub: undefined }],
    ['with an empty sub', 'provider_answer', { sub: '' }],
  ];
  it.each(cases)('is refused: %s is %s', (_name, fault, claims) => expectFault(fault, withClaims(claims)));

  it('is accepted where the clocks differ by less than a minute', async () => {
    for (const seconds of [-50, 50]) {
      const client = new DashboardClient(gateway.url);
      const claims = { ...ann, iat: now() + seconds, exp: now() + seconds + 5 };
      expect(faultIn(await visit(client, provider, { claims }))).toBeNull();
    }
  });
});

/** What the provider would sign. */
function fullClaims(location: string): Record<string, unknown> {
  const nonce = new URL(location).searchParams.get('nonce');
  const times = { iat: now(), exp: now() + 60 };
  return { ...ann, nonce, iss: provider.issuer, aud: 'lodestone', ...times, email_verified: true };
}

describe('a signature', () => {
  it('is refused where there is none', () =>
    expectFault('bad_signature', async (client) => {
      const location = await begin(client);
      const claims = fullClaims(location);
      provider.discovery = { id_token_signing_alg_values_supported: ['none', 'ES256'] };
      return client.call(
        'GET',
        `oidc/corp/callback?${provider.back(location, { idToken: new UnsecuredJWT(claims).encode() })}`,
      );
    }));

  it('is refused where it is made with the public key as a secret', () =>
    expectFault('bad_signature', async (client) => {
      provider.discovery = { id_token_signing_alg_values_supported: ['HS256', 'ES256'] };
      const location = await begin(client);
      const claims = fullClaims(location);
      const pem = await exportSPKI(
        (await importJWK(provider.signing.publicJwk, 'ES256', { extractable: true })) as never,
      );
      const idToken = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: provider.signing.kid })
        .sign(new TextEncoder().encode(pem));
      return client.call('GET', `oidc/corp/callback?${provider.back(location, { idToken })}`);
    }));

  it('is refused where the key is not published', () =>
    expectFault('unknown_key', comesBack({ header: { kid: 'somebody-elses' } })));

  it('is refused where another key has made it', async () => {
    const { signing } = provider;
    await provider.rotate(signing.kid);
    provider.published = [signing.publicJwk];
    await expectFault('bad_signature', comesBack({}));
    provider.signing = signing;
  });

  it('is accepted at once after the provider has changed its keys', async () => {
    await provider.rotate();
    const client = new DashboardClient(gateway.url);
    expect(faultIn(await visit(client, provider, { claims: ann }))).toBeNull();
    provider.calls = [];
    expect(faultIn(await visit(client, provider, { claims: ann }))).toBeNull();
    expect(provider.calls).not.toContain('/keys');
  });
});

describe('the way back', () => {
  it('is refused in a browser that began nothing', () =>
    expectFault('state_missing', async () => {
      const query = provider.back(await begin(new DashboardClient(gateway.url)), { claims: ann });
      return new DashboardClient(gateway.url).call('GET', `oidc/corp/callback?${query}`);
    }));

  it('is refused with the state of another sign-in', () =>
    expectFault('state_mismatch', comesBack({ query: { state: 'another' } })));
  it('is refused without a state', () => expectFault('state_mismatch', comesBack({ query: { state: undefined } })));

  it('works once: a replayed state is refused before the provider is asked', () =>
    expectFault('state_replayed', async (client) => {
      const query = provider.back(await begin(client), { claims: ann });
      const cookies = new Map(client.cookies);
      expect(faultIn(await client.call('GET', `oidc/corp/callback?${query}`))).toBeNull();
      client.cookies.clear();
      for (const [name, value] of cookies) client.cookies.set(name, value);
      provider.calls = [];
      const again = await client.call('GET', `oidc/corp/callback?${query}`);
      expect(provider.calls).toEqual([]);
      return again;
    }));

  it('is refused with a code that was used', () =>
    expectFault('code_refused', async (client) => {
      const first = new DashboardClient(gateway.url);
      const used = new URLSearchParams(provider.back(await begin(first), { claims: ann }));
      expect(faultIn(await first.call('GET', `oidc/corp/callback?${used}`))).toBeNull();
      used.set('state', new URL(await begin(client)).searchParams.get('state')!);
      return client.call('GET', `oidc/corp/callback?${used}`);
    }));

  it('is refused with the issuer of another provider', () =>
    expectFault('wrong_issuer', comesBack({ query: { iss: other.issuer } })));
  it('is refused without the issuer that the provider promises', () =>
    expectFault('wrong_issuer', comesBack({ query: { iss: undefined } })));

  it('is refused where the sign-in began at another provider', () =>
    expectFault('wrong_issuer', async (client) => {
      const query = other.back(await begin(client, 'other'), { claims: ann });
      return client.call('GET', `oidc/corp/callback?${query}`);
    }));

  it('is refused with what the provider says', () =>
    expectFault('provider_refused', comesBack({ query: { error: 'access_denied', code: undefined } })));

  it('says 404 for a provider that is not configured', async () => {
    const answer = await new DashboardClient(gateway.url).call('GET', 'oidc/nobody/start');
    expect([answer.status, answer.json.error.code]).toEqual([404, 'not_found']);
  });
});

describe('what it says about a person', () => {
  it('is refused with groups overage, so that nobody loses a role by it', async () => {
    const overage = {
      groups: undefined,
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example.com' } },
    };
    await expectFault('groups_overage', withClaims(overage));
    await expectFault('groups_overage', comesBack({ claims: { ...ann, groups: undefined }, userinfo: overage }));
  });

  it('is refused without an email', () => expectFault('email_missing', withClaims({ email: undefined })));
  it('is refused with an email that looks like another', () =>
    expectFault('email_missing', withClaims({ email: '\u212Aim@example.com' })));
  it('is refused where the email is in no domain of the provider', () =>
    expectFault('email_domain', withClaims({ email: 'ann@example.com.evil.test' })));
  it('is refused where the email is not verified', () =>
    expectFault('email_not_verified', withClaims({ email_verified: false })));
  it('is refused where it does not say whether the email is verified', () =>
    expectFault('email_not_verified', withClaims({ email_verified: undefined })));
  it('is refused without a group that gives something', () =>
    expectFault('no_access', withClaims({ sub: 'eve', email: 'eve@example.com', groups: ['guests'] })));
  it('is refused where groups are no list', () =>
    expectFault('provider_answer', withClaims({ groups: { staff: true } })));

  it('is refused where userinfo speaks of somebody else', () =>
    expectFault(
      'provider_answer',
      comesBack({ claims: { ...ann, groups: undefined }, userinfo: { sub: 'eve', groups: ['staff'] } }),
    ));
});

describe('an answer that does not end well', () => {
  const never = () => {};
  const huge = (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"padding": "${'x'.repeat(1024 * 1024)}`);
  };
  const slowly = (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 100);
    response.on('close', () => clearInterval(timer));
  };
  const redirect = (_request: unknown, response: ServerResponse) =>
    response.writeHead(302, { location: `${other.issuer}/elsewhere` }).end();
  const broken = (_request: unknown, response: ServerResponse) => response.writeHead(500).end();
  const nonsense = (_request: unknown, response: ServerResponse) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('"no"');
  const discoveryPath = '/.well-known/openid-configuration';

  const kinds: [string, (request: never, response: ServerResponse) => void, string][] = [
    ['huge', huge, 'provider_unavailable'],
    ['redirecting', redirect, 'provider_answer'],
    ['failing', broken, 'provider_unavailable'],
    ['meaningless', nonsense, 'provider_answer'],
  ];
  const paths = [discoveryPath, '/token', '/keys', '/userinfo'];
  const cases = kinds.flatMap(([kind, answer, fault]) => paths.map((path) => [kind, path, answer, fault] as const));

  it.each(cases)('is refused: %s at %s', async (_kind, path, answer, fault) => {
    // A changed key has the keys read.
    if (path === '/keys') await provider.rotate();
    const claims = path === '/userinfo' ? { ...ann, groups: undefined } : ann;
    const before = other.calls.length;
    await expectFault(fault, async (client) => {
      if (path === discoveryPath) {
        provider.answers.set(path, answer as never);
        return client.call('GET', 'oidc/corp/start');
      }
      const location = await begin(client);
      provider.answers.set(path, answer as never);
      return client.call('GET', `oidc/corp/callback?${provider.back(location, { claims })}`);
    });
    expect(other.calls.length, 'nothing follows a redirect').toBe(before);
  });

  it('is given up after seconds where it never comes, or comes byte by byte, and nobody else waits', async () => {
    const started = Date.now();
    const waits = [never, slowly].map(async (answer) => {
      const client = new DashboardClient(gateway.url);
      const location = await begin(client);
      provider.answers.set('/token', answer as never);
      return faultIn(await client.call('GET', `oidc/corp/callback?${provider.back(location, { claims: ann })}`));
    });
    const faults = Promise.all(waits);
    expect((await gateway.admin('GET', '/accounts')).status).toBe(200);
    expect(await faults).toEqual(['provider_unavailable', 'provider_unavailable']);
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  it('is refused where the discovery document names another issuer, or addresses without https', async () => {
    const start = (client: DashboardClient) => client.call('GET', 'oidc/corp/start');
    for (const [field, value, fault] of [
      ['issuer', 'http://127.0.0.1:1', 'provider_answer'],
      ['authorization_endpoint', 'http://login.example.com/authorize', 'provider_answer'],
      ['authorization_endpoint', 'javascript:alert(1)', 'provider_answer'],
    ]) {
      provider.discovery = { [field!]: value };
      await expectFault(fault!, start);
    }
  });

  it('is refused where the provider is away, at the start and on the way back', async () => {
    const { port } = provider;
    await expectFault('provider_unavailable', async (client) => {
      const query = provider.back(await begin(client), { claims: ann });
      await provider.stop();
      return client.call('GET', `oidc/corp/callback?${query}`);
    });
    await expectFault('provider_unavailable', (client) => client.call('GET', 'oidc/corp/start'));
    await provider.start(port);
  });
});
