import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Config } from './config.js';
import { loadConfig } from './load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-secrets-'));
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const token = 'a-token-that-is-long-enough';
beforeAll(() => {
  write('token', `${token}\n`);
  write('short', 'short\n');
  write('database', 'postgres://u:p@db/x\r\n');
  write('redis', 'redis://a:1\nredis://b:2\n');
  write('stripe', 'sk_live_1\n');
  write('empty', '\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(yaml: string, env: Record<string, string> = {}): Config {
  write('lodestone.yaml', yaml);
  return loadConfig({ env, cwd: folder });
}
function faultsOf(yaml: string, env: Record<string, string> = {}): string[] {
  try {
    load(yaml, env);
    return [];
  } catch (error) {
    return (error as { faults: string[] }).faults;
  }
}

it('every secret of the file can be read from a file, without its last line break', () => {
  const config = load(`
admin_token_file: token
metrics_token_file: ${join(folder, 'token')}
storage: { database_url_file: database, redis_url_file: redis }
payments: { processor: stripe, secret_key_file: stripe, webhook_secret_file: token }
notices: { webhook: { url: "https://hooks.test", secret_file: token } }
providers: { acme: { api_key_file: stripe } }
`);
  expect([config.adminToken, config.metricsToken]).toEqual([token, token]);
  expect(config.storage).toMatchObject({
    databaseUrl: 'postgres://u:p@db/x',
    redisUrl: ['redis://a:1', 'redis://b:2'],
  });
  expect(config.payments).toMatchObject({ secretKey: 'sk_live_1', webhookSecret: token });
  expect(config.notices.webhook).toEqual({ url: 'https://hooks.test', secret: token });
  expect(config.providers.acme).toEqual({ apiKey: 'sk_live_1' });
});

it('a variable may name the file too, and wins over the configuration', () => {
  const config = load('admin_token: another-token-of-the-file-itself\nworkers: 2', {
    LODESTONE_ADMIN_TOKEN_FILE: 'token',
    LODESTONE_REDIS_URL_FILE: join(folder, 'redis'),
  });
  expect(config.adminToken).toBe(token);
  expect(config.storage.redisUrl).toEqual(['redis://a:1', 'redis://b:2']);
});

it.each([
  ['admin_token_file: absent', {}, /:1:19: admin_token_file: "absent" cannot be read \(ENOENT\), expected a file$/],
  ['admin_token_file: .', {}, /admin_token_file: "\." cannot be read \(EISDIR\)/],
  ['admin_token_file: short', {}, /admin_token_file: "short" has another content, expected a token of at least 24/],
  [
    `admin_token: ${token}\nadmin_token_file: token`,
    {},
    /:2:19: admin_token_file: found a file beside admin_token, expected one of the two$/,
  ],
  ['providers: { acme: { api_key_file: empty } }', {}, /providers\.acme\.api_key_file: "empty" has another content/],
  [
    `providers: { acme: { api_key: "\${ABSENT}", api_key_file: stripe } }`,
    {},
    /api_key_file: found a file beside providers\.acme\.api_key/,
  ],
  [
    'payments: { processor: stripe, secret_key_file: absent, webhook_secret: x }',
    {},
    /secret_key_file: "absent" cannot be read/,
  ],
  [
    'notices: { webhook: { url: "https://hooks.test", secret: x, secret_file: token } }',
    {},
    /secret_file: found a file beside/,
  ],
  [
    'demo: false',
    { LODESTONE_ADMIN_TOKEN: token, LODESTONE_ADMIN_TOKEN_FILE: 'token' },
    /^environment: LODESTONE_ADMIN_TOKEN_FILE: "token" is set beside LODESTONE_ADMIN_TOKEN, expected one of the two$/,
  ],
  [
    'demo: false',
    { LODESTONE_DATABASE_URL_FILE: 'token' },
    /^environment: LODESTONE_DATABASE_URL_FILE: "token" has another content, expected a postgres/,
  ],
  ['server: { host_file: token }', {}, /host_file: unknown field/],
])('%s is one fault that says what to do', (yaml, env, fault) => {
  const faults = faultsOf(yaml, env as Record<string, string>);
  expect(faults).toEqual([expect.stringMatching(fault)]);
  expect(faults.join()).not.toContain(token.slice(0, 20));
});

it.each([
  ['redis://a:1', 'redis://a:1'],
  ['redis://u:p,w@a:1', 'redis://u:p,w@a:1'],
  ['"redis://a:1, redis://b:2"', ['redis://a:1', 'redis://b:2']],
  ['[redis://a:1]', ['redis://a:1']],
])('storage.redis_url: %s', (text, expected) => {
  expect(
    load(`storage: { redis_url: ${text.startsWith('[') || text.startsWith('"') ? text : `"${text}"`} }`).storage
      .redisUrl,
  ).toEqual(expected);
});

it.each(['[]', '[unix:/run/redis]', '[redis://a:1, 7]'])('storage.redis_url: %s is a fault', (text) => {
  expect(faultsOf(`storage: { redis_url: ${text} }`)).toEqual([
    expect.stringContaining('a list of redis:// or rediss://'),
  ]);
});

it('storage.redis_timeout is at most a second', () => {
  expect(load('storage: { redis_timeout: 120ms }').storage.redisTimeoutMs).toBe(120);
  expect(faultsOf('storage: { redis_timeout: 2s }')).toEqual([expect.stringContaining('a duration from 1ms to 1s')]);
});
