/** `lodestone provider check` against a scripted upstream: every dialect, and every result of the check. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { main } from '../../src/cli/cli.js';
import type { CheckResult } from '../../src/providers/provider-check/verdict.js';
import { anthropicFixture } from '../dialects/anthropic.js';
import { azureFixture } from '../dialects/azure.js';
import { bedrockFixture } from '../dialects/bedrock.js';
import type { DialectFixture, Said } from '../dialects/dialect-fixture.js';
import { geminiFixture } from '../dialects/gemini.js';
import { openAiFixture } from '../dialects/openai.js';
import {
  completion,
  hang,
  json,
  redirect,
  type ScriptedUpstream,
  startUpstream,
} from '../support/scripted-upstream.js';

const fixtures = [openAiFixture, azureFixture, anthropicFixture, geminiFixture, bedrockFixture];
const secret = 'secret-of-the-provider-0123456789';
const said: Said = { text: ['H'], finish: 'length', usage: { prompt: 8, cached: 0, completion: 1, reasoning: 0 } };

let upstream: ScriptedUpstream;
let folder: string;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  upstream.reset();
  folder = mkdtempSync(join(tmpdir(), 'lodestone-check-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Setting {
  provider?: object;
  routes?: object[];
  fixture?: DialectFixture;
}

/** One provider `acme` with a cheap and an expensive route, by default. */
function describeProvider({ provider = {}, routes, fixture = openAiFixture }: Setting = {}): void {
  const { dialect, basePath, upstreamModel } = fixture;
  const base_url = `${upstream.url}${basePath}`;
  const dear = { provider: 'acme', locode: 'global', upstream_model: 'dear', price: { input: 5, output: 9 } };
  const cheap = { ...dear, locode: 'defra', upstream_model: upstreamModel, price: { input: 1, output: 1 } };
  const catalogue = {
    providers: [{ id: 'acme', dialect, base_url, api_key_env: 'ACME_KEY', ...provider }],
    regions: [{ locode: 'defra', country: 'DE' }],
    models: [{ creator: 'meta', model: 'llama', max_output_tokens: 100, routes: routes ?? [dear, cheap] }],
  };
  writeFileSync(join(folder, 'catalogue.yaml'), stringify(catalogue));
  writeFileSync(join(folder, 'lodestone.yaml'), 'catalogue: [catalogue.yaml]\n');
}

async function check(line = 'acme', env: Record<string, string> = { ACME_KEY: secret }) {
  const lines: string[] = [];
  const put = (text: string) => void lines.push(text);
  const args = ['provider', 'check', ...line.split(' ').filter(Boolean)];
  const code = await main(args, { out: put, err: put, env, cwd: folder });
  const text = lines.join('\n');
  expect(text).not.toContain(secret);
  return { code, text };
}

async function checked(line = 'acme', env?: Record<string, string>): Promise<CheckResult & { code: number }> {
  const { code, text } = await check(`${line} --json`, env);
  return { code, ...(JSON.parse(text) as { data: CheckResult[] }).data[0]! };
}

describe('a provider that is well', () => {
  it.each(fixtures)('$dialect: one call for one token, on the cheapest route', async (fixture) => {
    describeProvider({ fixture });
    upstream.reply(json(fixture.whole(said)));
    expect(await checked()).toEqual({
      code: 0,
      provider: 'acme',
      verdict: 'ok',
      route: 'acme/meta/llama/defra',
      status: 200,
      latency_ms: expect.any(Number),
      said: null,
      advice: '',
    });
    expect(upstream.calls).toHaveLength(1);
    const { path, json: body } = upstream.calls[0]!;
    expect(path).toBe(fixture.paths.whole);
    expect(JSON.stringify(body)).toMatch(/"(max_tokens|maxTokens|maxOutputTokens)":1[,}]/);
  });

  it('is asked again with a larger limit of another name where it refuses the first', async () => {
    describeProvider();
    const refusal = { error: { message: "Unsupported parameter: 'max_tokens'.", type: 'invalid_request_error' } };
    upstream.enqueue(json(refusal, { status: 400 }));
    expect(await checked()).toMatchObject({ code: 0, verdict: 'ok' });
    expect(upstream.calls.map(({ json: body }) => Object.keys(body as object))).toEqual([
      expect.arrayContaining(['max_tokens']),
      expect.arrayContaining(['max_completion_tokens']),
    ]);
  });

  it('can be checked on one route', async () => {
    describeProvider();
    expect(await checked('acme/meta/llama/global')).toMatchObject({ code: 0, route: 'acme/meta/llama/global' });
    expect(upstream.calls[0]!.json).toMatchObject({ model: 'dear' });
  });

  it('is printed as a table', async () => {
    describeProvider();
    const { code, text } = await check();
    expect(code).toBe(0);
    expect(text).toMatch(/acme\s+ok\s+acme\/meta\/llama\/defra\s+200\s+\d+/);
  });
});

describe('the answers of each dialect are understood', () => {
  const verdicts = [
    ['auth', 'credential_refused'],
    ['unknown_model', 'unknown_model'],
    ['rate_limit', 'rate_limit'],
    ['capacity', 'capacity'],
    ['server_error', 'server_error'],
    ['rejected', 'rejected'],
  ] as const;
  const cases = fixtures.flatMap((fixture) =>
    verdicts.map(([meaning, verdict]) => ({ fixture, dialect: fixture.dialect, meaning, verdict })),
  );
  it.each(cases)('$dialect: $verdict', async ({ fixture, meaning, verdict }) => {
    describeProvider({ fixture });
    const { status, body, headers = {} } = fixture.failures[meaning];
    upstream.reply(json(body, { status, headers }));
    const result = await checked();
    expect(result).toMatchObject({ code: 1, verdict, status });
    expect(result.said).toContain(`(HTTP ${status})`);
    expect(result.advice).not.toBe('');
  });
});

describe('the message names what is wrong', () => {
  it('no credential: the variable to set; exit 1 for one that was asked for, 0 for all', async () => {
    describeProvider();
    expect(await checked('acme', {})).toMatchObject({
      code: 1,
      verdict: 'not_configured',
      advice: 'Set ACME_KEY or providers.acme.api_key in the configuration.',
    });
    const [all, one] = [await check('', {}), await check('acme', {})];
    expect(all).toMatchObject({ code: 0, text: expect.stringContaining('acme: not configured. Set ACME_KEY') });
    expect(one.text).toMatch(/^acme was not called, because it is not configured\.\n\nacme: not configured\. Set /);
    expect(upstream.calls).toHaveLength(0);
  });

  it('no address: the variable that it names', async () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the catalogue
    describeProvider({ provider: { base_url: 'https://${ACME_RESOURCE}.example/v1' } });
    expect((await checked()).advice).toBe('Set ACME_RESOURCE, which its address needs.');
  });

  it('no AWS credentials', async () => {
    describeProvider({ fixture: bedrockFixture });
    expect((await checked('acme', {})).advice).toContain('AWS_ACCESS_KEY_ID');
  });

  it('a refused credential: where it came from, never what it is', async () => {
    describeProvider();
    const echo = { error: { message: `Incorrect API key provided: ${secret}.`, code: 'invalid_api_key' } };
    upstream.reply(json(echo, { status: 401 }));
    const { code, text } = await check();
    expect(code).toBe(1);
    expect(text).toContain('The provider refused the key in ACME_KEY.');
    expect(text).toContain('Incorrect API key provided: [credential]');
    writeFileSync(
      join(folder, 'lodestone.yaml'),
      `catalogue: [catalogue.yaml]\nproviders: { acme: { api_key: ${secret} } }\n`,
    );
    expect((await check('acme', {})).text).toContain('refused the api_key of providers.acme in the configuration');
  });

  it.each([
    [
      'billing',
      429,
      {
        error: {
          message: 'You exceeded your current quota, please check your plan and billing details.',
          code: 'insufficient_quota',
        },
      },
    ],
    ['billing', 402, { error: { message: 'Insufficient Balance' } }],
    ['quota', 429, { error: { message: 'Rate limit reached on tokens per day (TPD): Limit 100000, Used 100000' } }],
  ])('%s (HTTP %i)', async (verdict, status, body) => {
    describeProvider();
    upstream.reply(json(body, { status }));
    expect(await checked()).toMatchObject({ code: 1, verdict });
  });

  it.each([
    ['a page', json('<!doctype html><title>Welcome</title>', { headers: { 'content-type': 'text/html' } })],
    ['a page that is not there', json('<html><title>Not Found</title></html>', { status: 404 })],
    ['JSON of another kind', json({ hello: 'world' })],
    ['a redirect', redirect('https://elsewhere.example/')],
  ])('something that is not the protocol: %s', async (_, script) => {
    describeProvider();
    upstream.reply(script);
    const result = await checked();
    expect(result).toMatchObject({ code: 1, verdict: 'not_the_protocol' });
    expect(result.advice).toContain('Check the base_url of acme');
  });

  it('nobody there', async () => {
    describeProvider({ provider: { base_url: 'http://127.0.0.1:1/v1' } });
    const result = await checked();
    expect(result).toMatchObject({ code: 1, verdict: 'unreachable', status: null, said: null });
    expect(result.advice).toContain('127.0.0.1:1 (ECONNREFUSED)');
  });

  it('a name that does not resolve', async () => {
    describeProvider({ provider: { base_url: 'http://nobody.invalid/v1' } });
    const result = await checked();
    expect(result).toMatchObject({ code: 1, verdict: 'name_not_found' });
    expect(result.advice).toContain('nobody.invalid');
  });

  it('no TLS where TLS is expected', async () => {
    const plain = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as { port: number };
    describeProvider({ provider: { base_url: `https://127.0.0.1:${port}/v1` } });
    const result = await checked();
    plain.close();
    expect(result).toMatchObject({ code: 1, verdict: 'tls' });
    expect(result.advice).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('silence', async () => {
    describeProvider();
    upstream.reply(hang());
    const result = await checked('acme --timeout 200ms');
    expect(result).toMatchObject({ code: 1, verdict: 'timeout' });
    expect(result.advice).toContain('within 200ms');
  });

  it('an unknown deployment of Azure: how to name it', async () => {
    describeProvider({ fixture: azureFixture });
    const { status, body } = azureFixture.failures.unknown_model;
    upstream.reply(json(body, { status }));
    expect((await checked()).advice).toContain("your deployment's name");
  });

  it('a provider without a route', async () => {
    const spare = { id: 'spare', base_url: upstream.url, auth: 'none' };
    const catalogue = { providers: [spare] };
    writeFileSync(join(folder, 'catalogue.yaml'), stringify(catalogue));
    writeFileSync(join(folder, 'lodestone.yaml'), 'catalogue: [catalogue.yaml]\n');
    expect(await checked('spare')).toMatchObject({ code: 1, verdict: 'no_route' });
  });

  it('an id that the catalogue does not have, a faulty catalogue, and a timeout that is none', async () => {
    describeProvider();
    expect(await check('gone')).toMatchObject({
      code: 1,
      text: expect.stringContaining('no provider "gone". It has: acme'),
    });
    expect(await check('acme/a/b/c')).toMatchObject({
      code: 1,
      text: expect.stringContaining('no route "acme/a/b/c"'),
    });
    expect((await check('acme --timeout soon')).code).toBe(2);
    writeFileSync(join(folder, 'catalogue.yaml'), 'models: 7\n');
    expect(await check()).toMatchObject({ code: 1, text: expect.stringContaining('catalogue.yaml:1') });
  });
});

describe('all of them at once', () => {
  it('calls every configured provider, leaves out the others and the sandbox, and fails where one fails', async () => {
    describeProvider();
    writeFileSync(join(folder, 'lodestone.yaml'), 'catalogue: [builtin, catalogue.yaml]\n');
    upstream.enqueue(
      json(completion()),
      json({ error: { message: 'Invalid key', code: 'invalid_api_key' } }, { status: 401 }),
    );
    expect(await check('')).toMatchObject({
      code: 0,
      text: expect.stringMatching(/acme\s+ok[\s\S]*openai: not configured\. Set OPENAI_API_KEY/),
    });
    const { code, text } = await check('');
    expect([code, text]).toEqual([1, expect.stringContaining('acme: credential refused')]);
    expect(text).not.toMatch(/^sandbox/m);
    expect(await checked('sandbox')).toMatchObject({ code: 0, verdict: 'ok' });
  });
});
