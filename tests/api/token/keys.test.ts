/** Keys that workloads got for their tokens: how long they hold, what ends them, and the entries of `trust` that they come by. */
import { describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json } from '../../support/scripted-upstream.js';
import { query } from '../database.js';
import { ask, expectError } from '../harness.js';
import { exchange, expectOauthError, trusting, useTokenRig } from './rig.js';

const rig = useTokenRig();
const hour = 3_600_000;
const chat = (key: string) => rig.gateway.chat(ask(), { key });
const keysOf = async (project: string): Promise<Json[]> =>
  (await rig.manager.call('GET', `/projects/${project}/keys`)).json.data;

describe('keys of workloads', () => {
  const expired = { status: 401, type: 'authentication_error', code: 'api_key_expired' };

  it('end with the next request when their entry goes or changes, and others do not', async () => {
    const entries = [{ subject: 'job:deploy' }, { subject: 'job:test' }];
    const project = await trusting(rig, ...entries);
    const deploy = (await exchange(rig, project)).json.access_token;
    rig.clock.advance(1);
    const test = (await exchange(rig, project, { sub: 'job:test' })).json.access_token;
    rig.upstream.reply(json(completion()));
    expect([(await chat(deploy)).status, (await chat(test)).status]).toEqual([200, 200]);
    const patch = (trust: Json[]) =>
      rig.manager.call('PATCH', `/projects/${project}`, {
        trust: trust.map((entry) => ({ issuer: rig.issuer.url, ...entry })),
      });
    expect((await patch([...entries].reverse())).status).toBe(200);
    expect([(await chat(deploy)).status, (await chat(test)).status]).toEqual([200, 200]);
    expect((await patch([entries[1]!])).status).toBe(200);
    expectError(await chat(deploy), expired);
    expect((await chat(test)).status).toBe(200);
    expect((await keysOf(project)).map(({ state }) => state)).toEqual(['expired', 'active']);
    await patch(entries);
    expectError(await chat(deploy), expired);
    await patch([entries[0]!, { ...entries[1]!, allowed_models: ['acme/*'] }]);
    expectError(await chat(test), expired);
  });

  it('block no deletion of their project, and end with it', async () => {
    const project = await trusting(rig);
    const { access_token: key } = (await exchange(rig, project)).json;
    rig.upstream.enqueue(json(completion()));
    expect((await chat(key)).status).toBe(200);
    expect((await rig.manager.call('GET', `/projects/${project}`)).json.keys).toBe(0);
    expect((await rig.manager.call('DELETE', `/projects/${project}`)).status).toBe(204);
    expect((await chat(key)).status).toBe(401);
    expectOauthError(await exchange(rig, project), 400, 'invalid_target');
  });

  it('count against no limit of keys', async () => {
    const project = await trusting(rig);
    await exchange(rig, project);
    const copies = `insert into lodestone.keys (id, account_id, name, last_four, expires_at, created_at, project_id, workload)
      select 'copy-' || n, account_id, name, last_four, expires_at, created_at, project_id, workload
      from lodestone.keys, generate_series(1, 200) n where project_id = $1`;
    await query(rig.gateway, copies, [project]);
    expect((await rig.manager.call('GET', `/projects/${project}/keys?limit=200`)).json.data).toHaveLength(200);
    const made = await rig.manager.call('POST', `/projects/${project}/keys`, { name: 'one of its own' });
    expect(made.status, made.text).toBe(201);
  });

  it('are removed an hour after they ended, and spend stays with the project', async () => {
    const project = await trusting(rig);
    const { access_token: key } = (await exchange(rig, project)).json;
    rig.upstream.enqueue(json(completion()));
    expect((await chat(key)).status).toBe(200);
    const spent = (await rig.manager.call('GET', `/projects/${project}`)).json.spent_usd;
    expect(spent).not.toBe('0');
    rig.clock.advance(hour);
    expectError(await chat(key), expired);
    expect(await keysOf(project)).toHaveLength(1);
    rig.clock.advance(hour - 1000);
    await rig.gateway.restart();
    expect(await keysOf(project)).toHaveLength(1);
    rig.clock.advance(2000);
    await rig.gateway.restart();
    expect(await keysOf(project)).toEqual([]);
    expect((await rig.manager.call('GET', `/projects/${project}`)).json.spent_usd).toBe(spent);
  });

  it('a key can be disabled and deleted like any other', async () => {
    const project = await trusting(rig);
    const { access_token: key } = (await exchange(rig, project)).json;
    const [{ id }] = (await keysOf(project)) as [Json];
    expect((await rig.manager.call('PATCH', `/keys/${id}`, { disabled: true })).json.state).toBe('disabled');
    expect((await chat(key)).json.error.code).toBe('api_key_disabled');
    expect((await rig.manager.call('DELETE', `/keys/${id}`)).status).toBe(204);
    expect((await chat(key)).json.error.code).toBe('api_key_not_registered');
  });
});

describe('trust of a project', () => {
  it('422 for an issuer that the operator does not allow, and 400 for an operator', async () => {
    const trust = [
      { issuer: rig.issuer.url, subject: 's' },
      { issuer: 'https://evil.example', subject: 's' },
    ];
    const fields = { name: 'trusting', trust };
    const row = { type: 'invalid_request_error', code: 'invalid_request_error', param: 'trust[1].issuer' };
    const says = ['https://evil.example'];
    expectError(await rig.manager.call('POST', '/projects', fields), { ...row, status: 422, says });
    const project = await trusting(rig);
    expectError(await rig.manager.call('PATCH', `/projects/${project}`, { trust }), { ...row, status: 422, says });
    const path = `/accounts/${rig.manager.accountId}/projects`;
    expectError(await rig.gateway.admin('POST', path, fields), { ...row, status: 400, says });
  });

  it('422 for more than 50 entries, missing fields, and values that cannot be', async () => {
    const project = await trusting(rig);
    const entry = { issuer: rig.issuer.url, subject: 's' };
    const change = (trust: unknown) => rig.manager.call('PATCH', `/projects/${project}`, { trust });
    expect((await change(Array.from({ length: 50 }, () => entry))).status).toBe(200);
    const row = { status: 422, type: 'invalid_request_error', code: 'invalid_request_error' };
    for (const [trust, param] of [
      [Array.from({ length: 51 }, () => entry), 'trust'],
      [[{ ...entry, subject: undefined }], 'trust[0].subject'],
      [[{ ...entry, subject: '' }], 'trust[0].subject'],
      [[{ subject: 's' }], 'trust[0].issuer'],
      [[{ ...entry, other: 1 }], 'trust[0].other'],
      [[{ ...entry, claims: { a: {} } }], 'trust[0].claims.a'],
      [[{ ...entry, allowed_models: ['not a model!'] }], 'trust[0].allowed_models'],
      [[{ ...entry, allowed_models: ['house'] }], 'trust[0].allowed_models'],
      [[{ ...entry, allowed_providers: [] }], 'trust[0].allowed_providers'],
      [[{ ...entry, subject: 'a\u0000b' }], 'trust[0].subject'],
      ['all', 'trust'],
    ] as const)
      expectError(await change(trust), { ...row, param });
  });
});
