import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { main } from '../../../src/cli/cli.js';
import { adminToken } from '../../support/gateway-files.js';
import { registerSecret, secretsIn } from '../../support/secrets.js';
import { useGateway } from '../harness.js';

// The harness searches the logs, the store and the journal of this gateway for the registered secrets, too.
const bench = useGateway();
let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), 'lodestone-import-secrets-'));
});
afterAll(() => rmSync(cwd, { recursive: true }));

function newSecret(what: string): string {
  const text = `sk-${what}-${randomBytes(9).toString('hex')}`;
  registerSecret(what, text);
  return text;
}

/** Runs a command; every text that it has left but `secrets.env`. */
async function leftBy(system: string, file: string, content: string, ...more: string[]) {
  writeFileSync(join(cwd, file), content);
  const texts: string[] = [];
  const print = (line: string) => void texts.push(line);
  const env = { LODESTONE_URL: bench.gateway.url, LODESTONE_ADMIN_TOKEN: adminToken };
  const out = `made-${file}`;
  const code = await main(['import', system, file, '--out', out, ...more], { out: print, err: print, env, cwd });
  let files: string[] = [];
  try {
    files = readdirSync(join(cwd, out));
  } catch {
    // A source that cannot be read leaves no folder.
  }
  for (const each of files) {
    if (each === 'secrets.env') expect(statSync(join(cwd, out, each)).mode & 0o777).toBe(0o600);
    else texts.push(readFileSync(join(cwd, out, each), 'utf8'));
  }
  return {
    code,
    texts,
    secrets: files.includes('secrets.env') ? readFileSync(join(cwd, out, 'secrets.env'), 'utf8') : '',
  };
}

const litellm = (secret: (what: string) => string) => ({
  model_list: [
    {
      model_name: 'gpt',
      litellm_params: {
        ...{ model: 'openai/gpt-4o', api_key: secret('api-key'), aws_secret_access_key: secret('aws') },
        ...{ vertex_credentials: secret('vertex'), extra_headers: { authorization: secret('header') } },
      },
    },
    { model_name: 'broken', litellm_params: { model: 'nowhere/x', api_key: secret('left-out') } },
    {
      model_name: 'there',
      litellm_params: { model: 'openai/x', api_base: `https://u:${secret('address')}@h.example/v1` },
    },
  ],
  credential_list: [{ credential_name: 'c', credential_values: { api_key: secret('credential') } }],
  environment_variables: { MY_KEY: secret('variable') },
  litellm_settings: { cache_params: { password: secret('cache') }, callbacks: [secret('callback')] },
  router_settings: { redis_password: secret('redis') },
  general_settings: { master_key: secret('master'), database_url: `postgres://u:${secret('database')}@h/d` },
});

const bifrost = (secret: (what: string) => string) => ({
  // Nothing of it can be taken, so that the gateway needs no file of this import.
  providers: { unheard: { keys: [{ name: 'k', value: secret('bifrost-key'), models: ['*'], weight: 1 }] } },
  governance: { virtual_keys: [{ id: 'v1', name: 'mine', value: secret('virtual-key') }] },
  config_store: { config: { password: secret('store') } },
});

const portkey = (secret: (what: string) => string) => ({
  strategy: { mode: 'single' },
  ...{ api_key: secret('portkey-key'), virtual_key: secret('portkey-virtual'), provider: 'openai' },
  override_params: { model: 'gpt-4o' },
});

describe('secrets of a source', () => {
  it('stand in secrets.env alone: not in the terminal, the report, another file, a log or the store', async () => {
    const runs = [
      await leftBy('litellm', 'config.yaml', stringify(litellm(newSecret))),
      await leftBy('litellm', 'json.yaml', stringify(litellm(newSecret)), '--json'),
      await leftBy('portkey', 'portkey.json', JSON.stringify(portkey(newSecret))),
    ];
    const applied = ['--apply', '--accept-gaps', '--new-account', 'secrets@example.com', '--credit-usd', '1'];
    const bifrostSource = JSON.stringify(bifrost(newSecret));
    const taken = await leftBy('bifrost', 'bifrost.json', bifrostSource, ...applied);
    expect(taken.code).toBe(0);
    for (const { texts } of [...runs, taken]) expect(secretsIn(texts.join('\n'))).toEqual([]);
    expect(secretsIn(runs[0]!.secrets)).toEqual(expect.arrayContaining(['api-key', 'aws', 'variable']));
    // The key works, so the gateway has had its hash.
    const { virtual_keys } = (JSON.parse(bifrostSource) as ReturnType<typeof bifrost>).governance;
    expect((await bench.gateway.call('GET', '/v1/key', undefined, { key: virtual_keys[0]!.value })).status).toBe(200);
  });

  it('are not in what a command prints that cannot read its source', async () => {
    const words = newSecret('broken-source');
    const sources: [string, string, string][] = [
      ['litellm', 'a.yaml', `model_list:\n  - {api_key: ${words}\n  x`],
      ['litellm', 'b.yaml', `general_settings: *${words}`],
      ['bifrost', 'c.json', `{"value": "${words}" "x"}`],
      ['portkey', 'd.json', `["${words}"]`],
    ];
    for (const [system, file, content] of sources) {
      const { code, texts } = await leftBy(system, file, content);
      expect([file, code, secretsIn(texts.join('\n'))]).toEqual([file, 1, []]);
    }
    const { code, texts } = await leftBy(
      'litellm',
      'e.yaml',
      '{}',
      '--database-url',
      `postgres://u:${words}@127.0.0.1:1/x`,
    );
    expect([code, secretsIn(texts.join('\n'))]).toEqual([1, []]);
  });
});
