/** `POST /v1/token`: tokens of workloads are exchanged for keys of a project, and what becomes of such keys. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json } from '../../support/scripted-upstream.js';
import { ask, expectError } from '../harness.js';
import { base, claimsFor, exchange, exchangeForm, expectOauthError, sendToken, trusting, useTokenRig } from './rig.js';

const rig = useTokenRig();
const chat = (key: string) => rig.gateway.chat(ask(), { key });
const keysOf = async (project: string): Promise<Json[]> =>
  (await rig.manager.call('GET', `/projects/${project}/keys`)).json.data;

describe('POST /v1/token', () => {
  it('200: a key of the project for at most an hour, with the headers of RFC 6749', async () => {
    const project = await trusting(rig);
    const reply = await exchange(rig, project, { exp: Math.floor(rig.clock.now() / 1000) + 7200 });
    expect(reply.status, reply.text).toBe(200);
    expect(reply.json).toEqual({
      access_token: expect.stringMatching(/^sk-lr-[\w-]{43}$/),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 3600,
    });
    expect([reply.headers['cache-control'], reply.headers.pragma]).toEqual(['no-store', 'no-cache']);
    rig.upstream.enqueue(json(completion()));
    const served = await chat(reply.json.access_token);
    expect(served.status, served.text).toBe(200);
    const [key] = await keysOf(project);
    expect(key).toMatchObject({
      ...{ name: 'job:deploy', project, holder: null, kind: 'inference', state: 'active', limit_usd: null },
      expires_at: new Date(rig.clock.now() + 3_600_000).toISOString(),
      workload: { issuer: rig.issuer.url, subject: 'job:deploy' },
    });
    const budget = await rig.gateway.call('GET', '/v1/budget', undefined, { key: reply.json.access_token });
    expect(budget.json.project.spent_usd).not.toBe('0');
  });

  it('the key ends with the token where that ends sooner', async () => {
    const project = await trusting(rig);
    const reply = await exchange(rig, project, { exp: Math.floor(rig.clock.now() / 1000) + 300 });
    expect(reply.json.expires_in).toBe(300);
    const now = rig.clock.now();
    rig.clock.setWall(Math.ceil(now / 1000) * 1000 + 300);
    const last = await exchange(rig, project, { exp: Math.ceil(rig.clock.now() / 1000) });
    expect(last.status, last.text).toBe(200);
    const ends = (await keysOf(project)).map(({ expires_at }) => Date.parse(expires_at as string));
    expect(Math.min(...ends), 'less than a second is left').toBe(Math.ceil(rig.clock.now() / 1000) * 1000);
    rig.clock.setWall(now);
    rig.upstream.reply(json(completion()));
    rig.clock.advance(299_000);
    expect((await chat(reply.json.access_token)).status).toBe(200);
    rig.clock.advance(1_000);
    expectError(await chat(reply.json.access_token), {
      ...{ status: 401, type: 'authentication_error', code: 'api_key_expired' },
    });
  });

  it('a token that ended less than a minute ago is accepted, and one that begins within a minute', async () => {
    const project = await trusting(rig);
    const now = Math.floor(rig.clock.now() / 1000);
    const late = await exchange(rig, project, { exp: now - 59 });
    expect([late.status, late.json.expires_in]).toEqual([200, 1]);
    expect((await exchange(rig, project, { nbf: now + 59, iat: now + 59 })).status).toBe(200);
    expectOauthError(await exchange(rig, project, { exp: now - 61 }), 400, 'invalid_grant', /has expired/);
    expectOauthError(await exchange(rig, project, { nbf: now + 62 }), 400, 'invalid_grant', /nbf/);
    expectOauthError(await exchange(rig, project, { iat: now + 62 }), 400, 'invalid_grant', /issued in the future/);
    expectOauthError(await exchange(rig, project, { exp: undefined }), 400, 'invalid_grant', /exp/);
  });

  it('the default project is named by its id too', async () => {
    const project = (await rig.manager.call('GET', '/projects')).json.data[0].id;
    const trust = [{ issuer: rig.issuer.url, subject: 'job:deploy' }];
    expect((await rig.manager.call('PATCH', `/projects/${project}`, { trust })).status).toBe(200);
    const reply = await exchange(rig, project);
    expect(reply.status, reply.text).toBe(200);
    rig.upstream.enqueue(json(completion()));
    expect((await chat(reply.json.access_token)).status).toBe(200);
    await rig.manager.call('PATCH', `/projects/${project}`, { trust: [] });
    expect((await chat(reply.json.access_token)).status).toBe(401);
  });

  const day = 86_400;
  const shapes: [string, Json, (project: string) => Json][] = [
    [
      'GitHub Actions',
      { subject: 'repo:acme/app:ref:refs/heads/*', claims: { repository_owner: 'acme', run_attempt: '1' } },
      () => ({
        ...{ jti: 'a5c1', sub: 'repo:acme/app:ref:refs/heads/main', ref: 'refs/heads/main', sha: '0123abc' },
        ...{ repository: 'acme/app', repository_owner: 'acme', run_attempt: '1', runner_environment: 'github-hosted' },
        ...{ workflow: 'deploy', actor: 'someone', event_name: 'push', ref_type: 'branch', environment: 'prod' },
      }),
    ],
    [
      'GitLab',
      { subject: 'project_path:acme/*:ref_type:branch:ref:main', claims: { ref_protected: 'true', user_id: 42 } },
      () => ({
        ...{
          jti: 'b6d2',
          sub: 'project_path:acme/app:ref_type:branch:ref:main',
          namespace_path: 'acme',
          user_id: '42',
        },
        ...{
          project_path: 'acme/app',
          pipeline_source: 'push',
          ref: 'main',
          ref_type: 'branch',
          ref_protected: 'true',
        },
      }),
    ],
    [
      'Kubernetes',
      { subject: 'system:serviceaccount:apps:*', audience: 'lodestone' },
      () => ({
        ...{ aud: ['https://kubernetes.default.svc', 'lodestone'], sub: 'system:serviceaccount:apps:worker' },
        'kubernetes.io': {
          namespace: 'apps',
          serviceaccount: { name: 'worker', uid: '1' },
          pod: { name: 'p', uid: '2' },
        },
      }),
    ],
    [
      'Entra',
      {
        subject: '11111111-2222-3333-4444-555555555555',
        audience: 'api://lodestone',
        claims: { roles: 'Caller', ver: '2.0' },
      },
      () => ({
        ...{
          aud: 'api://lodestone',
          sub: '11111111-2222-3333-4444-555555555555',
          oid: '11111111',
          tid: 't',
          ver: '2.0',
        },
        ...{ azp: 'app', azpacr: '1', roles: ['Reader', 'Caller'], uti: 'u' },
      }),
    ],
  ];
  it.each(shapes)('takes a token shaped as those of %s, and none that says otherwise', async (_, entry, claims) => {
    const project = await trusting(rig, entry);
    const now = Math.floor(rig.clock.now() / 1000);
    const token = claims(project);
    const good = await exchange(rig, project, { ...token, exp: now + day });
    expect(good.status, good.text).toBe(200);
    for (const name of Object.keys((entry.claims ?? {}) as Json)) {
      const other = await exchange(rig, project, { ...token, [name]: 'other' });
      expectOauthError(other, 400, 'invalid_grant', /matches no entry/);
    }
    expectOauthError(
      await exchange(rig, project, { ...token, aud: 'other' }),
      400,
      'invalid_grant',
      /matches no entry/,
    );
    expectOauthError(await exchange(rig, project, { ...token, sub: 'x' }), 400, 'invalid_grant', /matches no entry/);
  });

  it('the first entry that matches decides which models and providers the key may call', async () => {
    const project = await trusting(
      rig,
      { subject: 'job:other', allowed_models: ['acme/meta/other/defra'] },
      { subject: 'job:*', allowed_models: ['acme/meta/llama/DEFRA'], allowed_providers: ['ACME'] },
      { subject: 'job:deploy' },
    );
    const { access_token: key } = (await exchange(rig, project)).json;
    rig.upstream.reply(json(completion()));
    expect((await chat(key)).status).toBe(200);
    const refused = await rig.gateway.chat(ask({ model: 'auto/meta/llama' }), { key });
    expect([refused.status, refused.json.error.code]).toEqual([403, 'key_scope']);
    expect((await keysOf(project))[0]).toMatchObject({
      ...{ allowed_models: ['acme/meta/llama/defra'], allowed_providers: ['acme'] },
    });
  });

  it('a token is exchanged 20 times, by its jti or by what is signed', async () => {
    const project = await trusting(rig);
    for (const more of [{ jti: 'once' }, {}]) {
      const token = await rig.issuer.sign(claimsFor(rig, project, more));
      const send = () => sendToken(rig, exchangeForm(project, token));
      const statuses = [];
      for (let round = 0; round < 5; round++) {
        const sent = await Promise.all(Array.from({ length: 5 }, send));
        statuses.push(...sent.map(({ status }) => status));
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expectOauthError(await send(), 400, 'invalid_grant', /20 times/);
      if (more.jti) expectOauthError(await exchange(rig, project, { ...more, exp: 4e9 }), 400, 'invalid_grant', /20/);
      rig.clock.advance(61_000);
    }
    const fresh = await exchange(rig, project, { jti: 'another' });
    expect(fresh.status, fresh.text).toBe(200);
  });

  it('30 exchanges a minute and project, then 429 with Retry-After, and nothing for another project', async () => {
    const [project, other] = [await trusting(rig), await trusting(rig)];
    const replies = [];
    for (let n = 0; n < 35; n++) replies.push(await exchange(rig, project, { jti: `j${n}` }));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(30);
    const refused = replies.find(({ status }) => status !== 200)!;
    expectOauthError(refused, 429, 'rate_limit_exceeded', /exchanges of this project are limited to 30/);
    const { data } = (await rig.gateway.admin('GET', '/audit?limit=200')).json;
    const audited = data.filter(
      ({ action, subject }: Json) => action === 'key.exchange_refused' && subject === project,
    );
    expect(audited, 'one in a minute, however many were refused').toMatchObject([
      { account: rig.manager.accountId, address: '127.0.0.1', details: { error: 'rate_limit_exceeded' } },
    ]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await exchange(rig, other)).status).toBe(200);
    rig.clock.advance(61_000);
    expect((await exchange(rig, project)).status).toBe(200);
  });

  it('each exchange and each refusal is in the audit', async () => {
    const project = await trusting(rig);
    const { access_token: key } = (await exchange(rig, project, { jti: 'seen' })).json;
    await exchange(rig, project, { sub: 'job:other' });
    const { data } = (await rig.manager.call('GET', '/audit?limit=2')).json;
    expect(data[1]).toMatchObject({
      ...{ action: 'key.exchange', subject: key.slice(6, 16), account: rig.manager.accountId },
      actor: `account:${rig.manager.accountId}`,
      details: { project, issuer: rig.issuer.url, subject: 'job:deploy', jti: 'seen' },
    });
    expect(data[0]).toMatchObject({
      ...{ action: 'key.exchange_refused', subject: project, actor: 'anonymous', account: rig.manager.accountId },
      details: { error: 'invalid_grant', issuer: rig.issuer.url, subject: 'job:other' },
    });
  });
});

it('the address of a project is what a token is for, unless its entry says otherwise', async () => {
  const [project, other] = [await trusting(rig), await trusting(rig)];
  const wrong = await exchange(rig, project, { aud: `${base}/projects/${other}` });
  expectOauthError(wrong, 400, 'invalid_grant', new RegExp(`${base}/projects/${project}`));
  expect((await exchange(rig, project, { aud: ['x', `${base}/projects/${project}`] })).status).toBe(200);
});
