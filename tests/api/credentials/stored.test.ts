/** Credentials as they are stored: what opens them, what becomes of a lost key, and what is left where somebody looks for a secret. */
import { chmodSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../support/client.js';
import { completion, json, sse, streamOf } from '../../support/scripted-upstream.js';
import { secretsIn } from '../../support/secrets.js';
import { makeSecretsKey } from '../../support/secrets-key.js';
import { ask, useGateway } from '../harness.js';
import { managerOf } from '../projects/manager.js';

const keyFile = makeSecretsKey();
const bench = useGateway({
  env: { KEYED_API_KEY: 'the-key-of-the-operator' },
  config: { secrets: { key_file: keyFile } },
});
const model = 'keyed/meta/llama/defra';
let secrets = 0;

type Customer = Awaited<ReturnType<typeof managerOf>>;
let customer: Customer;
let id: string;
let own: string;
beforeEach(async () => {
  customer = await managerOf(bench);
  own = `a-secret-of-a-customer-${++secrets}-abcdefghij`;
  const made = await customer.call('POST', '/credentials', body());
  expect(made.status, made.text).toBe(201);
  id = made.json.id;
});

const body = () => ({ provider: 'keyed', name: 'ours', secret: { api_key: own } });
const chat = (key = customer.key, more: Json = {}) => bench.gateway.chat(ask({ model, ...more }), { key });
const state = async () => (await customer.call('GET', `/credentials/${id}`)).json.state;
const metric = async () =>
  /^lodestone_secrets_key_fault (\d)/m.exec((await bench.gateway.call('GET', '/metrics')).text)?.[1];

async function sql(text: string, values: unknown[]): Promise<Json[]> {
  const client = new pg.Client(bench.gateway.files.databaseUrl!);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

describe('a stored credential', () => {
  it('that is moved to another account does not open there, and nothing else fails', async () => {
    const thief = await managerOf(bench);
    await sql('update lodestone.credentials set account_id = $2 where id = $1', [id, thief.accountId]);
    await bench.gateway.restart();
    const reply = await chat(thief.key);
    expect([reply.status, reply.json.error.message]).toEqual([503, expect.stringContaining('your credential “ours”')]);
    expect(bench.upstream.calls).toHaveLength(0);
    const seen = await thief.call('GET', `/credentials/${id}`);
    expect(seen.json.state).toMatchObject({ status: 'failing', reason: expect.stringContaining('cannot be opened') });
    expect(await metric()).toBe('1');
    bench.upstream.enqueue(json(completion()));
    expect((await chat()).status).toBe(200);
    expect(bench.upstream.calls[0]?.headers.authorization).toBe('Bearer the-key-of-the-operator');
    await thief.call('DELETE', `/credentials/${id}`);
    expect(await metric()).toBe('0');
  });

  it('fails while the key file is away, and for no other customer; nothing new is stored, and all is well when it is back', async () => {
    renameSync(keyFile, `${keyFile}.away`);
    await bench.gateway.restart();
    try {
      const reply = await chat();
      expect([reply.status, reply.json.error.message]).toEqual([503, expect.stringContaining('Tell the operator')]);
      expect(reply.text).not.toContain(keyFile);
      expect((await state()).status).toBe('failing');
      expect(await metric()).toBe('1');
      const refused = await customer.call('POST', '/credentials', { ...body(), models: ['meta/other'] });
      expect([refused.status, refused.json.error.code]).toEqual([503, 'secrets_key_missing']);
      bench.upstream.enqueue(json(completion()));
      expect((await bench.gateway.chat(ask({ model }))).status).toBe(200);
    } finally {
      renameSync(`${keyFile}.away`, keyFile);
    }
    bench.upstream.enqueue(json(completion()));
    await expect.poll(async () => (await chat()).status, { timeout: 10_000 }).toBe(200);
    expect((await state()).status).toBe('ok');
  });

  it('is not stored under a key that other users may read', async () => {
    chmodSync(keyFile, 0o644);
    try {
      const refused = await customer.call('POST', '/credentials', { ...body(), models: ['meta/other'] });
      expect([refused.status, refused.json.error.code]).toEqual([503, 'secrets_key_missing']);
    } finally {
      chmodSync(keyFile, 0o600);
    }
  });

  it('that is deleted while its stream runs serves it to its end, and no other', async () => {
    bench.upstream.enqueue(sse(streamOf(['a', 'b', 'c', 'd', 'e', 'f']), { gapMs: 60 }), json(completion()));
    const streaming = bench.gateway.stream(ask({ model, stream: true }), { key: customer.key });
    await bench.upstream.waitForCalls(1);
    expect((await customer.call('DELETE', `/credentials/${id}`)).status).toBe(204);
    const { text } = await streaming;
    expect(text).toContain('"stream_end":"complete"');
    expect(text).toContain(id);
    expect((await chat()).status).toBe(200);
    expect(bench.upstream.calls[1]?.headers.authorization).toBe('Bearer the-key-of-the-operator');
  });

  it('whose provider refuses every second call serves the others, and each failure after a success makes one notice', async () => {
    const refusal = json({ error: { message: 'no' } }, { status: 401 });
    bench.upstream.enqueue(...[0, 1, 2].flatMap(() => [json(completion()), refusal]));
    const statuses: number[] = [];
    for (let call = 0; call < 6; call++) {
      statuses.push((await chat()).status);
      // Reading it writes down what was seen.
      expect((await state()).status).toBe(call % 2 === 0 ? 'ok' : 'failing');
    }
    expect(statuses).toEqual([200, 503, 200, 503, 200, 503]);
    expect(await sql('select from lodestone.credential_notices where credential_id = $1', [id])).toHaveLength(3);
  });

  it('is found nowhere: no export, metric, audit entry, row or file has it, plain, in base64 or in hexadecimal', async () => {
    bench.upstream.enqueue(json(completion()), json({ error: { message: `wrong key ${own}` } }, { status: 401 }));
    const texts = [(await chat()).text, (await chat()).text];
    await customer.call('PATCH', `/credentials/${id}`, { name: 'renamed' });
    for (const kind of ['generations', 'ledger', 'audit'])
      texts.push((await bench.gateway.admin('GET', `/export/${kind}?format=ndjson`)).text);
    texts.push((await bench.gateway.call('GET', '/metrics')).text, (await customer.call('GET', '/credentials')).text);
    const { dataDir, folder } = bench.gateway.files;
    for (const place of [dataDir, folder])
      for (const entry of readdirSync(place, { recursive: true, withFileTypes: true }))
        if (entry.isFile()) texts.push(readFileSync(join(entry.parentPath, entry.name), 'latin1'));
    const known = new Map([[own, 'the secret']]);
    expect(texts.flatMap((text) => secretsIn(text, known))).toEqual([]);
    // The search itself finds all three.
    for (const form of ['utf8', 'base64', 'hex'] as const)
      expect(secretsIn(`x ${Buffer.from(`ab ${own} c`).toString(form)} y`, known)).toEqual(['the secret']);
  });
});
