/** Sessions that an identity provider has opened: how long they last, and what ends them. */
import { describe, expect, it } from 'vitest';
import type { DashboardClient } from '../../support/dashboard-client.js';
import { ScriptedProvider } from '../../support/scripted-provider.js';
import { type Rig, somebody, useProvider } from './rig.js';
import { arrive } from './visit.js';

const hour = 3_600_000;

let provider: Rig['provider'];
let gateway: Rig['gateway'];
let clock: Rig['clock'];
useProvider((rig) => {
  ({ provider, gateway, clock } = rig);
});

describe('a session of an identity provider', () => {
  it('ends after twelve hours, however much it is used, and not because the provider is away', async () => {
    const { client } = await arrive(gateway, provider, somebody(['eng']));
    const { port } = provider;
    await provider.stop();
    for (let i = 0; i < 11; i++) {
      clock.setWall(clock.now() + hour);
      expect((await client.call('GET', 'keys')).status).toBe(200);
    }
    clock.setWall(clock.now() + hour);
    expect((await client.call('GET', 'keys')).json.error.code).toBe('session_required');
    await provider.start(port);
    clock.setWall(clock.now() - 12 * hour);
  });

  const logout = async (token: string, id = 'corp') => {
    const response = await fetch(`${gateway.url}/dashboard/api/oidc/${id}/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, json: text === '' ? {} : JSON.parse(text) };
  };
  const isIn = async (client: DashboardClient) => (await client.call('GET', 'session')).json.signed_in;

  it('ends with a back-channel logout: one session with a sid, else all of the subject', async () => {
    const claims = somebody(['eng']);
    const sessions = await Promise.all(['s1', 's2', 's3'].map((sid) => arrive(gateway, provider, { ...claims, sid })));
    const [one, two, three] = sessions.map(({ client }) => client);
    const other = await arrive(gateway, provider, somebody(['eng']));
    const first = await logout(await provider.logoutToken({ sid: 's1', sub: claims.sub }));
    expect([first.status, first.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await Promise.all([one!, two!, three!].map(isIn))).toEqual([false, true, true]);
    const { data } = (await gateway.admin('GET', '/audit?limit=200')).json;
    const entry = data.find(({ action }: { action: string }) => action === 'session.provider_logout');
    expect(entry).toMatchObject({ actor: 'system', by: null, address: '127.0.0.1' });
    expect((await logout(await provider.logoutToken({ sid: 's2' }))).status).toBe(200);
    expect((await logout(await provider.logoutToken({ sub: claims.sub }))).status).toBe(200);
    expect(await Promise.all([two!, three!].map(isIn))).toEqual([false, false]);
    expect(await isIn(other.client)).toBe(true);
  });

  it('is not ended by a logout token that is wrong or was used', async () => {
    const claims = somebody(['eng'], { sid: 'mine' });
    const { client } = await arrive(gateway, provider, claims);
    const now = Math.floor(clock.now() / 1000);
    const right = { sub: claims.sub };
    const stranger = await new ScriptedProvider().start();
    stranger.now = provider.now;
    const tokens: Record<string, string> = {
      'of another key': await stranger.logoutToken({ ...right, iss: provider.issuer }),
      'of another issuer': await provider.logoutToken({ ...right, iss: stranger.issuer }),
      'for another client': await provider.logoutToken({ ...right, aud: 'another' }),
      'with a nonce': await provider.logoutToken({ ...right, nonce: 'n' }),
      'without the event': await provider.logoutToken({ ...right, events: {} }),
      'without jti': await provider.logoutToken({ ...right, jti: undefined }),
      'of nobody': await provider.logoutToken({}),
      'that ended': await provider.logoutToken({ ...right, iat: now - 7200, exp: now - 3600 }),
      'of the future': await provider.logoutToken({ ...right, iat: now + 3600, exp: now + 7200 }),
      'without exp, and old': await provider.logoutToken({ ...right, iat: now - 7200, exp: undefined }),
      'with a strange sid': await provider.logoutToken({ ...right, sid: 7 }),
      'that is none': 'no.token.at-all',
      'that is empty': '',
    };
    for (const [name, token] of Object.entries(tokens)) {
      const answer = await logout(token);
      expect([answer.status, answer.json.error.code], name).toEqual([400, 'logout_token_refused']);
    }
    await stranger.stop();
    expect(await isIn(client)).toBe(true);
    const token = await provider.logoutToken({ sub: 'somebody-else' });
    expect([(await logout(token)).status, (await logout(token)).status]).toEqual([200, 400]);
    expect((await logout(token, 'nobody')).status).toBe(404);
  });
});
