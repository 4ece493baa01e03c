/** What `POST /v1/token` refuses, in the words of RFC 6749, and what it costs the one who tries. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { newSigningKey, signWith } from '../../support/scripted-issuer.js';
import { expectError } from '../harness.js';
import {
  claimsFor,
  exchange,
  exchangeForm,
  expectOauthError,
  sendToken,
  type TokenRig,
  trusting,
  useTokenRig,
} from './rig.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-jwks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const apart = { issuer: 'https://kubernetes.default.svc', jwks_file: join(folder, 'keys.json') };
const rig: TokenRig = useTokenRig({ issuers: apart });

const signed = async (project: string) => rig.issuer.sign(claimsFor(rig, project));

describe('invalid_request', () => {
  const changes: [string, (form: Record<string, string>) => void, RegExp][] = [
    ['without grant_type', (form) => delete form.grant_type, /grant_type is missing/],
    ['with an empty grant_type', (form) => Object.assign(form, { grant_type: '' }), /grant_type is missing/],
    ['without subject_token', (form) => delete form.subject_token, /subject_token is missing/],
    ['without subject_token_type', (form) => delete form.subject_token_type, /subject_token_type is missing/],
    ['without audience', (form) => delete form.audience, /audience is missing/],
    [
      'of another type of token',
      (form) => Object.assign(form, { subject_token_type: 'urn:x' }),
      /subject_token_type is/,
    ],
    [
      'for another type of token',
      (form) => Object.assign(form, { requested_token_type: 'urn:x' }),
      /requested_token_type/,
    ],
    ['with an actor', (form) => Object.assign(form, { actor_token: 'a' }), /actor_token/],
    ['with a token that is no JWT', (form) => Object.assign(form, { subject_token: 'abc' }), /is no JWT/],
    ['with a token of three odd parts', (form) => Object.assign(form, { subject_token: 'YQ.YQ.YQ' }), /is no JWT/],
    [
      'with a token that is very long',
      (form) => Object.assign(form, { subject_token: `a.b.${'c'.repeat(20_000)}` }),
      /no JWT/,
    ],
  ];
  it.each(changes)('400 %s', async (_, change, says) => {
    const project = await trusting(rig);
    const form = exchangeForm(project, await signed(project));
    change(form);
    expectOauthError(await sendToken(rig, form), 400, 'invalid_request', says);
  });

  it('400 for a parameter that is sent twice, another type of body, and none', async () => {
    const project = await trusting(rig);
    const form = new URLSearchParams(exchangeForm(project, await signed(project)));
    const send = (body: string | undefined, type: string) =>
      rig.gateway.call('POST', '/v1/token', body, { key: null, headers: { 'content-type': type } });
    const formType = 'application/x-www-form-urlencoded';
    for (const name of form.keys()) {
      const twice = `${form}&${name}=${encodeURIComponent(form.get(name)!)}`;
      expectOauthError(await send(twice, formType), 400, 'invalid_request', /more than once/);
    }
    expectOauthError(await send(JSON.stringify(Object.fromEntries(form)), 'application/json'), 400, 'invalid_request');
    expectOauthError(await send('', formType), 400, 'invalid_request', /grant_type is missing/);
    expectOauthError(await send(`x=${'y'.repeat(300_000)}`, formType), 400, 'invalid_request');
    const good = await send(`${form}&scope=all&requested_token_type=`, `${formType}; charset=utf-8`);
    expect(good.status, good.text).toBe(200);
  });

  it('405 for another method', async () => {
    expectError(await rig.gateway.call('GET', '/v1/token', undefined, { key: null }), {
      ...{ status: 405, type: 'invalid_request_error', code: 'method_not_allowed' },
    });
  });
});

it('unsupported_grant_type for any other grant', async () => {
  const form = { ...exchangeForm('proj-x', 'a.b.c'), grant_type: 'client_credentials' };
  expectOauthError(await sendToken(rig, form), 400, 'unsupported_grant_type', /client_credentials/);
});

it('invalid_target in the same words for no project and for one that trusts nobody', async () => {
  const plain = (await rig.manager.call('POST', '/projects', { name: 'trusts nobody' })).json.id;
  const token = await signed(plain);
  const answers = [];
  for (const audience of [plain, 'proj-00000000000000000000000000', 'nonsense \u0000', rig.manager.accountId])
    answers.push(await sendToken(rig, exchangeForm(audience, token)));
  for (const answer of answers) {
    expectOauthError(answer, 400, 'invalid_target');
    expect(answer.text).toBe(answers[0]!.text);
  }
});

describe('invalid_grant', () => {
  const refused = async (token: string, project: string, says: RegExp) =>
    expectOauthError(await sendToken(rig, exchangeForm(project, token)), 400, 'invalid_grant', says);

  it('for a token that another key has signed, or nobody, or with a shared secret, or that was changed', async () => {
    const project = await trusting(rig);
    const claims = claimsFor(rig, project);
    const other = await newSigningKey();
    const own = rig.issuer.keys[0]!;
    await refused(await signWith({ ...other, kid: own.kid }, claims), project, /no valid signature/);
    await refused(await signWith(other, claims), project, /a key that its issuer does not have/);
    await refused(new UnsecuredJWT(claims).encode(), project, /signed in a way that is not accepted/);
    const header = { alg: 'HS256', kid: own.kid };
    const { SignJWT } = await import('jose');
    const shared = await new SignJWT(claims).setProtectedHeader(header).sign(Buffer.from(JSON.stringify(own.jwk)));
    await refused(shared, project, /signed in a way that is not accepted/);
    const [head, body, signature] = (await signed(project)).split('.') as [string, string, string];
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'job:other' })).toString('base64url');
    await refused(`${head}.${changed}.${signature}`, project, /no valid signature/);
    await refused(`${head}.${body}.`, project, /no valid signature/);
    await refused(
      await rig.issuer.sign(claims, { crit: ['exp'], exp: 1 } as never).catch(() => `${head}.${body}.YQ`),
      project,
      /./,
    );
  });

  it('for an issuer that the project does not trust, whose keys are not asked for', async () => {
    const project = await trusting(rig, { issuer: apart.issuer });
    await refused(await signed(project), project, /which this project does not trust/);
    expect(rig.issuer.calls).toEqual([]);
    const unknown = await rig.issuer.sign(claimsFor(rig, project, { iss: 'https://other.example' }));
    await refused(unknown, project, /which this project does not trust/);
  });

  it('for a subject outside the entry: a star stays within its part', async () => {
    const project = await trusting(rig, { subject: 'repo:acme/*:ref:refs/heads/*' });
    const sub = (text: unknown) => exchange(rig, project, { sub: text as string });
    expect((await sub('repo:acme/app:ref:refs/heads/main')).status).toBe(200);
    for (const text of [
      ...[
        'repo:acme/app:ref:refs/heads/feature/x',
        'repo:acme/a:b:ref:refs/heads/main',
        'repo:other/app:ref:refs/heads/main',
      ],
      ...[
        'repo:acme/app:ref:refs/tags/main',
        'repo:acme:ref:refs/heads/main',
        'prefix-repo:acme/app:ref:refs/heads/main',
      ],
      ...['', 7, ['repo:acme/app:ref:refs/heads/main'], undefined],
    ])
      expectOauthError(await sub(text), 400, 'invalid_grant', /matches no entry/);
  });

  it('for a claim that is missing, another, or an object', async () => {
    const project = await trusting(rig, { claims: { owner: 'acme', level: 3, safe: true } });
    const good = { owner: ['x', 'acme'], level: 3, safe: true };
    expect((await exchange(rig, project, good)).status).toBe(200);
    expect((await exchange(rig, project, { ...good, level: '3', safe: 'true' })).status).toBe(200);
    for (const wrong of [
      { owner: 'Acme' },
      { owner: undefined },
      { owner: { acme: 'acme' } },
      { owner: [['acme']] },
      { level: 4 },
      { safe: null },
    ])
      expectOauthError(await exchange(rig, project, { ...good, ...wrong }), 400, 'invalid_grant', /matches no entry/);
    const inherited = await trusting(rig, { claims: { constructor: 'x' } });
    expectOauthError(await exchange(rig, inherited), 400, 'invalid_grant', /matches no entry/);
  });
});

describe('the keys of an issuer', () => {
  it('are found by discovery once, and again when a token names another key', async () => {
    const project = await trusting(rig);
    rig.clock.advance(11 * 60_000);
    for (const jti of ['a', 'b']) expect((await exchange(rig, project, { jti })).status).toBe(200);
    expect(rig.issuer.calls).toEqual(['/.well-known/openid-configuration', '/keys']);
    const old = await signed(project);
    await rig.issuer.rotate('ES256');
    expect((await exchange(rig, project)).status).toBe(200);
    expectOauthError(await sendToken(rig, exchangeForm(project, old)), 400, 'invalid_grant', /does not have/);
    await rig.issuer.rotate('EdDSA');
    expect((await exchange(rig, project)).status).toBe(200);
    const forged = await newSigningKey();
    rig.issuer.calls.length = 0;
    for (let tries = 0; tries < 20; tries++)
      await sendToken(rig, exchangeForm(project, await signWith(forged, claimsFor(rig, project))));
    expect(rig.issuer.calls.length).toBeLessThan(2 * 7);
  });

  it('503 while the issuer is away, and 200 once it is back', async () => {
    const project = await trusting(rig);
    rig.clock.advance(2 * 3_600_000);
    await rig.issuer.goAway();
    const away = await exchange(rig, project);
    await rig.issuer.comeBack();
    expectOauthError(away, 503, 'temporarily_unavailable');
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    expect((await exchange(rig, project)).status).toBe(200);
    rig.clock.advance(30 * 60_000);
    await rig.issuer.goAway();
    const known = await exchange(rig, project);
    await rig.issuer.comeBack();
    expect(known.status, 'keys that were read within the hour still count').toBe(200);
  });

  it('503 where discovery redirects, names another issuer, or keys that are not https or no keys', async () => {
    const project = await trusting(rig);
    const asked = async () => {
      rig.clock.advance(2 * 3_600_000);
      expectOauthError(await exchange(rig, project), 503, 'temporarily_unavailable');
    };
    rig.issuer.intercept = (_req, res) => {
      res.writeHead(302, { location: `${rig.issuer.url}/elsewhere` }).end();
      return true;
    };
    await asked();
    expect(rig.issuer.calls).toEqual(['/.well-known/openid-configuration']);
    rig.issuer.intercept = null;
    for (const configuration of [
      ...[
        { issuer: 'https://other.example' },
        { jwks_uri: 'http://192.0.2.1/keys' },
        { jwks_uri: 'file:///etc/passwd' },
      ],
      ...[{ jwks_uri: `${rig.issuer.url}/none` }, { jwks_uri: 7 }],
    ]) {
      rig.issuer.configuration = configuration;
      await asked();
    }
    rig.issuer.configuration = { jwks_uri: `${rig.issuer.url}/.well-known/openid-configuration` };
    await asked();
  });

  it('come from a file where the issuer cannot be reached, which is read again', async () => {
    const project = await trusting(rig, { issuer: apart.issuer, subject: 'system:serviceaccount:apps:*' });
    const claims = { iss: apart.issuer, sub: 'system:serviceaccount:apps:worker' };
    expectOauthError(await exchange(rig, project, claims), 503, 'temporarily_unavailable');
    writeFileSync(apart.jwks_file, JSON.stringify(rig.issuer.keySet()));
    expect((await exchange(rig, project, claims)).status).toBe(200);
    await rig.issuer.rotate();
    writeFileSync(apart.jwks_file, JSON.stringify(rig.issuer.keySet()));
    expect((await exchange(rig, project, claims)).status).toBe(200);
    expect(rig.issuer.calls).toEqual([]);
  });
});

it('60 refusals a minute and address, then 429 with Retry-After, also for a good token', async () => {
  const project = await trusting(rig);
  const good = await signed(project);
  const bad = exchangeForm(project, 'abc');
  for (let tries = 0; tries < 60; tries++) expectOauthError(await sendToken(rig, bad), 400, 'invalid_request');
  for (const form of [bad, exchangeForm(project, good)]) {
    const refused = await sendToken(rig, form);
    expectOauthError(refused, 429, 'rate_limit_exceeded', /failed exchanges of this address are limited to 60/);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  }
  const { data } = (await rig.gateway.admin('GET', '/audit?limit=200')).json;
  const audited = data.filter(({ details }: { details: Json }) => details.error === 'rate_limit_exceeded');
  expect(audited, 'one in a minute, however many were refused').toMatchObject([
    { action: 'key.exchange_refused', actor: 'anonymous', address: '127.0.0.1', subject: 'token' },
  ]);
  rig.clock.advance(61_000);
  expect((await sendToken(rig, exchangeForm(project, good))).status).toBe(200);
});
