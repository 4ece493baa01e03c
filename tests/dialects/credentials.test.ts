/** The credentials that each provider receives through a running gateway, and calls for which there are none. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { signatureOf, statementOf } from '../support/aws-signature.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { anthropicFixture } from './anthropic.js';
import { anthropicVertexFixture } from './anthropic-vertex.js';
import { azureFixture } from './azure.js';
import { bedrockFixture } from './bedrock.js';
import { cases, strange } from './cases.js';
import type { DialectFixture } from './dialect-fixture.js';
import { geminiFixture } from './gemini.js';
import { openAiFixture } from './openai.js';
import { playStream, playWhole } from './rig.js';

const { said } = cases[0]!;
const fixtures = [openAiFixture, azureFixture, anthropicFixture, geminiFixture, bedrockFixture];
const messages = [{ role: 'user', content: strange }];
const modelOf = ({ dialect }: DialectFixture) => `${dialect}/meta/llama/global`;

let upstream: ScriptedUpstream;
let gateway: TestGateway | undefined;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.stop());
beforeEach(() => upstream.reset());
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
  vi.unstubAllEnvs();
});

interface Setting {
  providers: [fixture: DialectFixture, entry: object][];
  env?: Record<string, string>;
}

async function start({ providers, env = {} }: Setting): Promise<TestGateway> {
  const entries = providers.map(([{ dialect, basePath }, entry]) => ({
    id: dialect,
    dialect,
    base_url: `${upstream.url}${basePath}`,
    ...entry,
  }));
  const routes = providers.map(([{ dialect, upstreamModel }]) => ({
    provider: dialect,
    locode: 'global',
    upstream_model: upstreamModel,
    price: { input: 1, output: 1 },
  }));
  const catalogue = { providers: entries, models: [{ creator: 'meta', model: 'llama', routes }] };
  gateway = await startGateway({ catalogue, env });
  return gateway;
}

describe('a key', () => {
  const shown: Record<string, [name: string, value: string]> = {
    openai: ['authorization', 'Bearer test-key'],
    azure: ['api-key', 'test-key'],
    anthropic: ['x-api-key', 'test-key'],
    gemini: ['x-goog-api-key', 'test-key'],
    bedrock: ['authorization', 'Bearer test-key'],
  };

  it.each(fixtures)('of $dialect is shown in its own header, and in no other', async (fixture) => {
    const running = await start({ providers: [[fixture, { api_key_env: 'THE_KEY' }]], env: { THE_KEY: 'test-key' } });
    upstream.reply(playWhole(fixture, said));
    const reply = await running.chat({ model: modelOf(fixture), messages });
    expect(reply.status, reply.text).toBe(200);
    const [call] = upstream.calls;
    const [name, value] = shown[fixture.dialect]!;
    expect(call!.headers[name]).toBe(value);
    expect(call!.rawHead.split('test-key')).toHaveLength(2);
    expect(call!.headers['anthropic-version']).toBe(fixture.dialect === 'anthropic' ? '2023-06-01' : undefined);
  });
});

describe('AWS\u2019s credentials', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'a/secret+key', AWS_REGION: 'eu-central-1' };

  it.each([{}, { AWS_SESSION_TOKEN: 'a/session+token==' }])(
    'sign the very bytes that arrive, whole and streamed, with %j',
    async (more: { AWS_SESSION_TOKEN?: string }) => {
      const running = await start({ providers: [[bedrockFixture, {}]], env: { ...keys, ...more } });
      upstream.reply(playWhole(bedrockFixture, said));
      expect((await running.chat({ model: modelOf(bedrockFixture), messages })).status).toBe(200);
      upstream.reply(playStream(bedrockFixture, said));
      expect((await running.stream({ model: modelOf(bedrockFixture), messages })).content).toBe(said.text!.join(''));
      expect(upstream.calls).toHaveLength(2);
      for (const call of upstream.calls) {
        const { signature, scope, accessKeyId } = statementOf(call);
        expect([accessKeyId, scope.slice(1)]).toEqual(['AKIDEXAMPLE', ['eu-central-1', 'bedrock', 'aws4_request']]);
        expect(signature).toBe(signatureOf(call, keys.AWS_SECRET_ACCESS_KEY));
        expect(call.headers['x-amz-security-token']).toBe(more.AWS_SESSION_TOKEN);
        expect(call.path).toContain('%3A');
      }
    },
  );

  it('that cannot be obtained are a failure of the provider that gives nothing away, and the walk goes on', async () => {
    const away = join(tmpdir(), 'lodestone-no-such-file');
    const env = {
      AWS_PROFILE: 'secret-profile',
      AWS_CONFIG_FILE: away,
      AWS_SHARED_CREDENTIALS_FILE: away,
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    const running = await start({
      providers: [
        [bedrockFixture, {}],
        [openAiFixture, { auth: 'none' }],
      ],
      env,
    });
    upstream.reply(playWhole(openAiFixture, said));
    const pinned = await running.chat({ model: modelOf(bedrockFixture), messages });
    expect([pinned.status, pinned.json.error?.code]).toEqual([503, 'provider_error']);
    expect(pinned.json.error?.message).toMatch(/credentials of bedrock are not usable/);
    expect(pinned.text).not.toMatch(/secret-profile|no-such-file/);
    const walked = await running.chat({ model: 'auto/meta/llama', messages });
    expect(walked.json.router_metadata).toMatchObject({ provider: 'openai' });
    expect(upstream.calls).toHaveLength(1);
  });
});

describe('Google\u2019s credentials', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lodestone-google-'));
  let tokens: Server;
  let issued = 0;
  let refuse = false;
  beforeAll(async () => {
    tokens = createServer((_request, response) => {
      response.setHeader('content-type', 'application/json');
      if (refuse)
        response.writeHead(400).end('{"error":"invalid_grant","error_description":"account a@b.example is gone"}');
      else {
        const token = { access_token: `ya29.token-${++issued}`, expires_in: 3600, token_type: 'Bearer' };
        response.end(JSON.stringify({ ...token, issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }));
      }
    });
    await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve));
    writeFileSync(join(folder, 'subject'), 'a-subject-token');
    const credentials = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
      credential_source: { file: join(folder, 'subject') },
    };
    writeFileSync(join(folder, 'credentials.json'), JSON.stringify(credentials));
  });
  afterAll(async () => {
    await new Promise((resolve) => tokens.close(resolve));
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    refuse = false;
    issued = 0;
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', join(folder, 'credentials.json'));
  });

  const vertex: [DialectFixture, object] = [geminiFixture, { auth: 'google' }];
  const env = () => ({ GOOGLE_APPLICATION_CREDENTIALS: join(folder, 'credentials.json') });

  it('are a token that many calls share', async () => {
    const running = await start({ providers: [vertex, [anthropicVertexFixture, {}]], env: env() });
    upstream.reply(playWhole(geminiFixture, said));
    const ask = () => running.chat({ model: modelOf(geminiFixture), messages });
    for (const reply of await Promise.all([ask(), ask(), ask()])) expect(reply.status, reply.text).toBe(200);
    expect((await ask()).status).toBe(200);
    upstream.reply(playWhole(anthropicVertexFixture, said));
    const claude = await running.chat({ model: modelOf(anthropicVertexFixture), messages });
    expect(claude.status, claude.text).toBe(200);
    expect(upstream.calls.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 5 }, () => 'Bearer ya29.token-1'),
    );
    expect(issued).toBe(1);
  });

  it('that are refused are a failure of the provider that gives nothing away', async () => {
    refuse = true;
    const running = await start({ providers: [vertex], env: env() });
    const reply = await running.chat({ model: modelOf(geminiFixture), messages });
    expect([reply.status, reply.json.error?.code]).toEqual([503, 'provider_error']);
    expect(reply.json.error?.message).toContain('expired or were revoked');
    expect(reply.text).not.toContain('a@b.example');
    expect(upstream.calls).toEqual([]);
  });
});

it('a provider without a trace of credentials is not configured, and its routes are not listed', async () => {
  const running = await start({
    providers: [
      [bedrockFixture, { api_key_env: 'AWS_BEARER_TOKEN_BEDROCK' }],
      [geminiFixture, { auth: 'google' }],
      [openAiFixture, { auth: 'none' }],
    ],
  });
  for (const fixture of [bedrockFixture, geminiFixture]) {
    const reply = await running.chat({ model: modelOf(fixture), messages });
    expect([reply.status, reply.json.error?.code]).toEqual([503, 'provider_not_configured']);
  }
  const { data } = (await running.call('GET', '/v1/models')).json as unknown as { data: { id: string }[] };
  expect(data.map(({ id }) => id).sort()).toEqual(['auto/meta/llama', 'openai/meta/llama/global']);
});
