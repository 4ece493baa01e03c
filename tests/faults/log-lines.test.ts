/**
 * The log is one JSON object a line, whoever wrote the text in it, and holds no token, prompt or credential; and a token that
 * is nearly right is as wrong as any other.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAccount } from '../support/client.js';
import { catalogueOf, type SpawnedGateway, spawnGateway } from '../support/gateway.js';
import { adminToken } from '../support/gateway-files.js';
import { type FreshDatabase, freshDatabase } from '../support/postgres.js';
import { requestBytes, sendRaw } from '../support/raw-http.js';
import * as up from '../support/scripted-upstream.js';
import { ask, pause, pin } from './fixture.js';
import { type StoreProxy, startStoreProxy } from './store-proxy.js';

const providerKey = 'acme-credential-5d1e07b2';
const secretPrompt = 'The prompt that no log may hold.';
const forged = '{"level":60,"time":"2000-01-01","msg":"forged"}';
/** Every way to begin a new line, or to move a terminal's cursor, before the forged one. */
const injections = [
  `x\n${forged}\n`,
  `x\r\n${forged}\r\n`,
  `x\u2028${forged}\u2028`,
  `\u001b[2K\u001b[1G${forged}`,
  `"}\n${forged}`,
];

let gateway: SpawnedGateway;
let upstream: up.ScriptedUpstream;
let database: FreshDatabase;
let proxy: StoreProxy;
let account: TestAccount;
beforeAll(async () => {
  upstream = await up.startUpstream();
  database = await freshDatabase();
  proxy = await startStoreProxy(database.databaseUrl);
  gateway = await spawnGateway({
    catalogue: catalogueOf({ acme: upstream.url }, { providers: { acme: { auth: undefined, api_key_env: 'X' } } }),
    config: { providers: { acme: { api_key: providerKey } }, storage: { database_url: proxy.databaseUrl } },
    env: { LODESTONE_LOG_LEVEL: 'trace' },
  });
  account = await gateway.createAccount();
});
afterAll(async () => {
  proxy.set('open');
  await gateway.stop();
  await upstream.stop();
  proxy.close();
  await database.drop();
});

const segment = encodeURIComponent;

/** All that a caller, an operator or an upstream can put a text into. */
async function sayEverywhere(text: string): Promise<void> {
  const { key, accountId } = account;
  const call = (method: string, path: string, body?: unknown) => gateway.call(method, path, body, { key });
  await gateway.chat(ask({ model: text }), { key });
  await gateway.chat(ask({ model: `acme/meta/${text}` }), { key });
  await gateway.chat(ask({ fallback: { models: [text] } }), { key });
  await gateway.chat(ask({ [text]: text, temperature: text }), { key });
  await gateway.chat(ask({ messages: [{ role: text, content: secretPrompt }] }), { key });
  await call('POST', '/v1/routes/explain', ask({ model: text }));
  await call('POST', '/v1/aliases', { name: text, target: text });
  await call('GET', `/v1/aliases/${segment(text)}`);
  await call('GET', `/v1/generations?model=${segment(text)}&key=${segment(text)}&after=${segment(text)}`);
  await call('GET', `/${segment(text)}`);
  await call('PUT', '/v1/routing-policy', { [text]: text });
  await gateway.admin('POST', '/accounts', { email: `${text}@example.test`, name: text });
  await gateway.admin('POST', `/accounts/${accountId}/keys`, { name: text });
  await gateway.admin('POST', `/accounts/${accountId}/credits`, { amount_usd: '0.01', note: text });
  await gateway.admin('GET', `/accounts/${segment(text)}`);
  await gateway.admin('PUT', '/models/meta/llama-3.3-70b/availability', { state: 'available', reason: text });
  const header = text.replace(/[^\x20-\x7e]/g, ' ');
  const headers = { authorization: `Bearer ${key}`, 'user-agent': header, 'x-forwarded-for': header, referer: header };
  await sendRaw(
    gateway.url,
    requestBytes('POST', '/v1/chat/completions', { ...headers, [header.slice(0, 3)]: text }, '{}'),
  );
  await sendRaw(gateway.url, `${text} ${text} ${text}\r\n${text}\r\n\r\n`);
}

/** An upstream that says the text, and our credential, in every place it has. */
async function upstreamSays(text: string): Promise<void> {
  const { key } = account;
  const quote = `${text} for Bearer ${providerKey}`;
  for (const script of [
    up.json({ error: { message: quote } }, { status: 400 }),
    up.json({ error: { message: quote } }, { status: 500 }),
    up.json({ error: { message: `You exceeded your daily token quota. ${quote}`, code: quote } }, { status: 429 }),
    up.json({ ...up.completion(), model: text, id: text }),
    up.json(quote),
    up.sse([{ error: { message: quote } }]),
    up.rawBytes([`HTTP/1.1 500 ${quote}\r\nx: ${quote}\r\ncontent-length: 0\r\n\r\n`]),
  ]) {
    upstream.reply(script);
    await gateway.chat(ask({ messages: [{ role: 'user', content: secretPrompt }] }), { key });
    await gateway.stream(ask(), { key });
    await gateway.admin('DELETE', `/routes/${pin}/hold`);
  }
}

interface LogEntry {
  level: number;
  msg: string;
}

async function logEntries(): Promise<LogEntry[]> {
  await pause(200);
  const text = gateway.output.stderr;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be there
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
  expect(text.endsWith('\n')).toBe(true);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogEntry);
}

describe('the log', () => {
  it('has one JSON object a line, whatever callers, operators and upstreams say', async () => {
    for (const text of injections) {
      await sayEverywhere(text);
      await upstreamSays(text);
    }
    const entries = await logEntries();
    expect(entries.map(({ msg }) => msg)).toContain('a route is quota-held');
    expect(entries.filter(({ msg }) => msg === 'forged')).toEqual([]);
    expect(entries.filter(({ level }) => level >= 50)).toEqual([]);
  }, 180_000);

  it('has it also where the store is unreachable and failures of ours are logged with their causes', async () => {
    proxy.set('cut');
    for (const text of injections.slice(0, 2)) {
      await gateway.admin('POST', '/accounts', { email: 'away@example.test', name: text.replace(/[\r\n]/g, ' ') });
      await gateway.call('GET', `/v1/generations?model=${segment(text)}`, undefined, { key: account.key });
      await gateway.admin('POST', `/accounts/${account.accountId}/keys`, { name: `a ${forged}` });
    }
    const entries = await logEntries();
    proxy.set('open');
    expect(entries.filter(({ level }) => level >= 50).length).toBeGreaterThan(0);
    expect(entries.filter(({ msg }) => msg === 'forged')).toEqual([]);
  }, 180_000);

  it('holds no token, prompt or credential, and standard output none either', () => {
    const { stdout, stderr } = gateway.output;
    for (const secret of [account.key, account.key.slice(16), adminToken, providerKey, secretPrompt]) {
      expect(stderr).not.toContain(secret);
      expect(stdout).not.toContain(secret);
    }
  });
});

describe('tokens that are nearly right', () => {
  const changed = (token: string, at: number) => {
    const other = token.at(at) === 'A' ? 'B' : 'A';
    return at === -1 ? token.slice(0, -1) + other : token.slice(0, at) + other + token.slice(at + 1);
  };

  it('401 for an admin token that differs in one character, is shorter, longer, or of another case', async () => {
    const wrong = [
      changed(adminToken, 0),
      changed(adminToken, 12),
      changed(adminToken, -1),
      adminToken.slice(0, -1),
      `${adminToken}x`,
      adminToken.toUpperCase(),
      adminToken + adminToken,
    ];
    for (const key of wrong) {
      const reply = await gateway.call('GET', '/admin/v1/accounts', undefined, { key });
      expect([reply.status, reply.json.error.code]).toEqual([401, 'authentication_error']);
    }
    expect((await gateway.call('GET', '/admin/v1/accounts', undefined, { key: adminToken })).status).toBe(200);
  });

  it('401 `api_key_not_registered` for a key that differs in one character, of its id or of its secret', async () => {
    const { key } = account;
    // The last character of 43 carries two bits that no key uses; the whole text is what counts, not the bytes.
    for (const at of [6, 15, 16, 30, key.length - 2, -1]) {
      const reply = await gateway.call('GET', '/v1/credits', undefined, { key: changed(key, at) });
      expect([reply.status, reply.json.error.code]).toEqual([401, 'api_key_not_registered']);
    }
    for (const other of [key.slice(0, -1), `${key}x`]) {
      const reply = await gateway.call('GET', '/v1/credits', undefined, { key: other });
      expect([reply.status, reply.json.error.code]).toEqual([401, 'api_key_malformed']);
    }
    expect((await gateway.call('GET', '/v1/credits', undefined, { key })).status).toBe(200);
  });
});
