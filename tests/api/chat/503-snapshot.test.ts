import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScriptedUpstream, startUpstream } from '../../support/scripted-upstream.js';
import { chatCatalogue } from '../catalogue.js';
import { ask, expectError } from '../harness.js';
import { startWithoutSnapshot, type WaitingGateway } from '../no-snapshot.js';

const row = {
  status: 503,
  type: 'internal_server_error',
  code: 'service_unavailable',
  param: 'model',
  says: [/retry/i],
};

describe('503 service_unavailable: a replica has no routing snapshot yet', () => {
  let waiting: WaitingGateway;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await startUpstream();
    waiting = await startWithoutSnapshot();
  });
  afterAll(async () => {
    await waiting.stop();
    await upstream.stop();
  });

  it('until the catalogue has been read; then the same request is served', async () => {
    const { client } = waiting;
    const account = await client.createAccount();
    const ledger = await client.ledger(account.accountId);
    expectError(await client.chat(ask(), { key: account.key }), row);
    expectError(await client.stream(ask(), { key: account.key }), row);
    expectError(await client.call('GET', '/v1/models', undefined, { key: account.key }), row);
    const ready = await client.call('GET', '/readyz', undefined, { key: null });
    expect([ready.status, ready.json.missing]).toEqual([503, ['snapshot']]);
    expect((await client.call('GET', '/healthz', undefined, { key: null })).status).toBe(200);
    expect(await client.ledger(account.accountId)).toEqual(ledger);
    await waiting.release(chatCatalogue(upstream.url));
    expect((await client.chat(ask(), { key: account.key })).status).toBe(200);
    expect((await client.call('GET', '/readyz', undefined, { key: null })).status).toBe(200);
    expect(upstream.calls).toHaveLength(1);
  });
});
