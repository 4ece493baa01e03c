/**
 * After a run in which everything went wrong that can, no credential, key, prompt, answer or
 * address of a provider is in the log, the database, an error answer or the metrics.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, Reply, TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import { rowsOf } from '../support/kept-by-gateway.js';
import { RawConnection, requestBytes, sendRaw } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';

const providerKey = 'pk-canary-7d41a6e0c9b2';
const promptCanary = 'canary-prompt-5f0e9d';
const answerCanary = 'canary-answer-a81c37';
const toolCanary = 'canary-tool-90bb12';
const cookieCanary = 'canary-cookie-3c6d';

let upstream: up.ScriptedUpstream;
let gateway: SpawnedGateway;
let account: TestAccount;
let expiring: string;
let deleted: string;
let metrics = '';
const errors: string[] = [];

const pin = 'acme/meta/llama-3.3-70b/defra';
const ask = (more: Json = {}): Json => ({ model: pin, messages: [{ role: 'user', content: promptCanary }], ...more });

async function chat(more: Json = {}, key: string | null = account.key): Promise<Reply> {
  return kept(await gateway.chat(ask(more), { key, headers: { cookie: cookieCanary } }));
}

function kept<R extends { status: number; text: string; headers: object }>(reply: R): R {
  if (reply.status >= 400) errors.push(reply.text, JSON.stringify(reply.headers));
  return reply;
}

/** Says what it was sent, as careless servers do; not the prompt, which an error may quote to the caller that sent it. */
const echo =
  (status: number, shape: (text: string) => unknown): up.Script =>
  (exchange) => {
    const { headers, path } = exchange.call;
    const text = `bad ${headers.authorization} ${providerKey} at http://${headers.host}${path} of 127.0.0.1:${upstream.port}`;
    return up.json(shape(text), { status })(exchange);
  };

async function newKey(expires: string): Promise<{ id: string; token: string }> {
  const reply = await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 'more', expires });
  return reply.json;
}

beforeAll(async () => {
  upstream = await up.startUpstream();
  gateway = await spawnGateway({
    catalogue: catalogueOf(
      { acme: upstream.url, closed: 'http://127.0.0.1:1' },
      { providers: { acme: { auth: undefined, api_key_env: 'ACME_API_KEY' } } },
    ),
    env: { ACME_API_KEY: providerKey, LODESTONE_LOG_LEVEL: 'debug' },
  });
  account = await gateway.createAccount();
  expiring = (await newKey(new Date(Date.now() + 1_500).toISOString())).token;
  const gone = await newKey('7d');
  deleted = gone.token;
  await gateway.admin('DELETE', `/accounts/${account.accountId}/keys/${gone.id}`);
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.stop();
});

async function successes(): Promise<void> {
  const tools = [{ type: 'function', function: { name: toolCanary, parameters: {} } }];
  upstream.reply(up.json(up.completion({ content: answerCanary })));
  expect((await chat({ tools })).status).toBe(200);
  upstream.reply(up.sse(up.streamOf([answerCanary, ' more'])));
  expect((await gateway.stream(ask(), { key: account.key })).done).toBe(true);
  await gateway.call('POST', '/v1/aliases', { name: 'mine', target: pin }, { key: account.key });
  upstream.reply(up.json(up.completion({ content: answerCanary, usage: null })));
  expect((await chat({ model: 'alias/mine', user: promptCanary })).status).toBe(200);
}

async function failures(): Promise<void> {
  const scripts: up.Script[] = [
    ...[400, 401, 403, 404, 422, 429, 500, 503].map((status) => echo(status, (message) => ({ error: { message } }))),
    echo(500, (text) => text),
    echo(200, (message) => ({ error: { message, code: 500 } })),
    echo(429, (text) => ({ error: { message: `tokens per day (TPD) limit reached ${text}`, code: 'insufficient' } })),
    echo(200, () => 'not json'),
    up.json(up.completion({ content: answerCanary, usage: up.usage(-1, 5) })),
    up.reset(),
    up.redirect(`http://127.0.0.1:${upstream.port}/elsewhere`),
  ];
  for (const script of scripts) {
    for (const stream of [false, true]) {
      upstream.reply(script);
      expect((await chat({ stream })).status).toBeGreaterThanOrEqual(400);
      await gateway.admin('DELETE', '/routes/acme/meta/llama-3.3-70b/defra/hold');
    }
  }
  await chat({ model: 'closed/meta/llama-3.3-70b/defra' });
  await chat({ model: 'auto/meta/llama-3.3-70b' });
  upstream.reply(up.sse([...up.streamOf([answerCanary]).slice(0, 2)], { cutAfter: 2, cutWith: 'reset' }));
  await gateway.stream(ask(), { key: account.key });
}

async function badInput(): Promise<void> {
  const bodies = ['{', `{"${promptCanary}"`, `["${promptCanary}"]`, `{"model":"${promptCanary}"}`, '\u0000', ''];
  for (const body of bodies) kept(await gateway.chat(body, { key: account.key }));
  await chat({ messages: [{ role: promptCanary.slice(0, 5), content: promptCanary }] });
  await chat({ temperature: 9 });
  for (const key of [expiring, deleted, `${account.key}x`, account.key.slice(0, -1), providerKey, null])
    await chat({}, key);
  for (const value of [`bearer ${account.key}`, `Basic ${account.key}`, `Bearer "${account.key}"`, account.key]) {
    const bytes = requestBytes('POST', '/v1/chat/completions', { authorization: value, connection: 'close' }, '{}');
    errors.push((await sendRaw(gateway.url, bytes, { idleMs: 2_000 })).raw.toString());
  }
  const query = `/v1/nothing?key=${account.key}&token=${adminToken}`;
  kept(await gateway.call('GET', query, undefined, { key: account.key }));
  kept(await gateway.call('GET', '/admin/v1/accounts', undefined, { key: `${adminToken}x` }));
  kept(await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: 5 }));
  errors.push((await sendRaw(gateway.url, `BAD ${account.key}\r\n${promptCanary}\r\n\r\n`)).raw.toString());
}

async function hangUps(): Promise<void> {
  upstream.reply(up.sse(up.streamOf(Array(50).fill(answerCanary)), { gapMs: 5 }));
  await gateway.stream(ask(), { key: account.key, hangUpAfter: 3 });
  upstream.reply(up.hang());
  const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' };
  const bytes = requestBytes('POST', '/v1/chat/completions', headers, JSON.stringify(ask()));
  for (const length of [bytes.length - 20, bytes.length - 200, bytes.length]) {
    const connection = await RawConnection.open(gateway.url);
    await connection.write(bytes.subarray(0, length));
    await new Promise((resolve) => setTimeout(resolve, 50));
    connection.reset();
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile());
}

describe('secrets of a varied run', () => {
  it('the run: successes, failures that echo credentials, bad input, hang-ups', { timeout: 180_000 }, async () => {
    await successes();
    await failures();
    await badInput();
    await hangUps();
    metrics = (await gateway.call('GET', '/metrics', undefined, { key: null })).text;
    await gateway.kill('SIGTERM');
    expect(errors.length).toBeGreaterThan(80);
  });

  const places: [string, () => Promise<string> | string][] = [
    ['the log', () => gateway.output.stderr + gateway.output.stdout],
    ['the database', async () => (await rowsOf(gateway.files.databaseUrl!)).join('\n')],
    [
      'the journal',
      () =>
        filesIn(gateway.files.dataDir)
          .map((file) => readFileSync(file, 'latin1'))
          .join('\n'),
    ],
    ['the error answers', () => errors.join('\n')],
    ['the metrics', () => metrics],
  ];
  const secrets: [string, () => string][] = [
    ['the provider’s credential', () => providerKey],
    ['the admin token', () => adminToken],
    ['a key', () => account.key.slice(16)],
    ['an expired key', () => expiring.slice(16)],
    ['a deleted key', () => deleted.slice(16)],
    ['the upstream’s address', () => `127.0.0.1:${upstream.port}`],
    ['a cookie', () => cookieCanary],
    ['an answer', () => answerCanary],
    ['a tool’s name', () => toolCanary],
  ];

  it.each(places)('%s has none of them', async (place, read) => {
    const text = await read();
    for (const [name, secret] of secrets) expect([name, text.includes(secret())]).toEqual([name, false]);
    // A caller may be told what it sent; nobody else may.
    if (place !== 'the error answers') expect(text).not.toContain(promptCanary);
  });

  it('and the search looks in the right places: what may be there is found', async () => {
    const rows = (await rowsOf(gateway.files.databaseUrl!)).join('\n');
    for (const shown of ['mine', account.keyId, pin, 'bad [credential]']) expect(rows).toContain(shown);
    expect(gateway.output.stderr).toContain('"level":');
    expect(metrics).toContain('lodestone_route_breaker_state');
  });
});
