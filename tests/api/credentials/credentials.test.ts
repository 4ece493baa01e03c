/** `/v1/credentials`: create, list, change, delete and check. */
import { describe, expect, it } from 'vitest';
import { completion, json } from '../../support/scripted-upstream.js';
import { expectError } from '../harness.js';
import { own, refused, useCustomer } from './customer.js';

const rig = useCustomer();
const { bench, bring, sentKeys } = rig;

describe('/v1/credentials', () => {
  it('201 without the secret, GET, PATCH and DELETE', async () => {
    const made = await bring();
    expect(made.status, made.text).toBe(201);
    expect(made.json).toEqual({
      ...{ object: 'credential', id: expect.stringMatching(/^cred-/), provider: 'keyed', name: 'our key' },
      ...{
        project: null,
        use: 'only',
        models: null,
        agreement: null,
        fingerprint: expect.stringMatching(/^[0-9a-f]{8}$/),
      },
      state: { status: 'unchecked', reason: null, since: expect.any(String) },
      ...{ created_at: expect.any(String), last_used_at: null },
    });
    const path = `/credentials/${made.json.id}`;
    expect((await rig.customer.call('GET', path)).json).toEqual(made.json);
    const changed = await rig.customer.call('PATCH', path, {
      use: 'first',
      name: 'other',
      secret: { api_key: 'another-key' },
    });
    expect(changed.json).toMatchObject({ use: 'first', name: 'other', state: { status: 'unchecked' } });
    expect(changed.json.fingerprint).not.toBe(made.json.fingerprint);
    const listed = await bench.gateway.admin('GET', `/accounts/${rig.customer.accountId}/credentials`);
    expect(listed.json.data).toEqual([changed.json]);
    expect((await rig.customer.call('DELETE', path)).status).toBe(204);
    expect((await rig.customer.call('GET', path)).status).toBe(404);
  });

  it.each([
    ['secret.api_key', { secret: { api_key: 'two\nlines' } }],
    ['secret.api_key', { secret: {} }],
    ['secret.resource', { secret: { api_key: 'x', resource: 'y' } }],
    ['provider', { provider: 'acme' }],
    ['provider', { provider: 'nobody' }],
    ['models[1]', { models: ['meta/llama', 'x'] }],
    ['use', { use: 'always' }],
    ['name', { name: '' }],
    ['project', { project: 'proj-unknown' }],
    ['agreement.trains', { agreement: { trains: 'maybe' } }],
    ['color', { color: 'red' }],
  ])('422 with param %s, 400 for operators, and no secret in the message', async (param, fields) => {
    const reply = await bring(fields);
    expectError(reply, { status: 422, type: 'invalid_request_error', code: 'invalid_request_error', param });
    expect(reply.text).not.toContain('two');
    const body = { provider: 'keyed', name: 'our key', secret: { api_key: own }, ...fields };
    const byOperator = await bench.gateway.admin('POST', `/accounts/${rig.customer.accountId}/credentials`, body);
    expect([byOperator.status, byOperator.json.error.param]).toEqual([400, param]);
  });

  it('409 for a second one of a provider and scope with a common model, and 422 for the 51st', async () => {
    expect((await bring()).status).toBe(201);
    expect((await bring()).json.error).toMatchObject({ code: 'credential_exists' });
    expect((await bring({ models: ['meta/llama'] })).status).toBe(201);
    expect((await bring({ models: ['meta/*'] })).status).toBe(409);
    for (let n = 0; n < 48; n++) expect((await bring({ models: [`other/m${n}`] })).status).toBe(201);
    expectError(await bring({ models: ['other/one-more'] }), {
      ...{ status: 422, type: 'invalid_request_error', code: 'credential_limit_reached', param: 'provider' },
    });
  });

  it('POST check makes one call with it', async () => {
    const { json: made } = await bring();
    bench.upstream.enqueue(json(completion()));
    const checked = await rig.customer.call('POST', `/credentials/${made.id}/check`);
    expect(checked.json, checked.text).toMatchObject({ state: { status: 'ok' }, check: { verdict: 'ok' } });
    expect(sentKeys()).toEqual([own]);
    bench.upstream.enqueue(refused(401));
    const failing = await rig.customer.call('POST', `/credentials/${made.id}/check`);
    expect(failing.json).toMatchObject({ state: { status: 'failing' }, check: { verdict: 'credential_refused' } });
    expect(failing.text).not.toContain(own);
  });
});
