/** Keys of workloads at two replicas: made at one and used at the other, limits that they share, and ends that both see at once. */
import { expect, it } from 'vitest';
import { ask } from '../faults/fixture.js';
import type { Json } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { type Replicas, whileShared } from '../support/replicas.js';
import type { ScriptedIssuer } from '../support/scripted-issuer.js';
import { completion, json } from '../support/scripted-upstream.js';
import { pinOf } from './changing-fleet.js';

/** Of a fleet whose `workload_issuers` has the issuer. */
export function workloadsSuite(shared: () => Replicas, issuerOf: () => ScriptedIssuer): void {
  it('a key of a workload is made at one replica and used at the other; limits and ends are those of both', async () => {
    const [fleet, issuer] = [shared(), issuerOf()];
    fleet.upstream.onRequest(() => json(completion()));
    const account = await fleet.a.createAccount();
    const entry = { issuer: issuer.url, subject: 'job:deploy', audience: 'here' };
    const path = `/accounts/${account.accountId}/projects`;
    const project = (await fleet.a.admin('POST', path, { name: 'trusting', trust: [entry] })).json.id;
    let tokens = 0;
    const sign = (jti = `t${++tokens}`) => {
      const now = Math.floor(Date.now() / 1000);
      return issuer.sign({ iss: issuer.url, sub: 'job:deploy', aud: 'here', jti, exp: now + 600 });
    };
    const exchange = async (at: SpawnedGateway, subject_token: string) => {
      const form = new URLSearchParams({
        ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token, audience: project },
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return at.call('POST', '/v1/token', form.toString(), { key: null, headers });
    };
    const chat = async (at: SpawnedGateway, key: string) =>
      (await at.chat(ask({ model: pinOf('acme') }), { key })).status;

    const { json: made } = await exchange(fleet.a, await sign());
    expect([await chat(fleet.b, made.access_token), await chat(fleet.a, made.access_token)]).toEqual([200, 200]);

    const once = await sign();
    const both = await Promise.all(
      Array.from({ length: 24 }, (_, n) => exchange(n % 2 === 0 ? fleet.a : fleet.b, once)),
    );
    expect(both.filter(({ status }) => status === 200)).toHaveLength(20);

    await whileShared(fleet, async () => {
      const { json: other } = await fleet.a.admin('POST', path, { name: `shared ${++tokens}`, trust: [entry] });
      const many = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          const form = new URLSearchParams({
            ...{ grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange', audience: other.id as string },
            ...{ subject_token: await sign(), subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' },
          });
          const headers = { 'content-type': 'application/x-www-form-urlencoded' };
          return (n % 2 ? fleet.a : fleet.b).call('POST', '/v1/token', form.toString(), { key: null, headers });
        }),
      );
      const statuses = many.map(({ status }) => status).sort();
      expect(statuses).toEqual([...Array(30).fill(200), ...Array(10).fill(429)]);
    });

    const patch = (trust: Json[]) => fleet.a.admin('PATCH', `${path}/${project}`, { trust });
    expect((await patch([{ ...entry, allowed_models: ['acme/*'] }])).status).toBe(200);
    expect([await chat(fleet.b, made.access_token), await chat(fleet.a, made.access_token)]).toEqual([401, 401]);
    expect((await patch([entry])).status).toBe(200);
    expect([await chat(fleet.b, made.access_token), await chat(fleet.a, made.access_token)]).toEqual([401, 401]);
    const { json: last } = await exchange(fleet.b, await sign());
    expect(await chat(fleet.a, last.access_token)).toBe(200);
    expect((await fleet.b.admin('DELETE', `${path}/${project}`)).status).toBe(204);
    expect(await chat(fleet.a, last.access_token)).toBe(401);
  });
}
