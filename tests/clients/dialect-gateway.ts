/** One gateway before one scripted upstream that speaks every dialect: a provider a dialect, each with its pin. */
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { anthropicFixture } from '../dialects/anthropic.js';
import { azureFixture } from '../dialects/azure.js';
import { bedrockFixture } from '../dialects/bedrock.js';
import type { DialectFixture, WriteJson } from '../dialects/dialect-fixture.js';
import { geminiFixture } from '../dialects/gemini.js';
import { openAiFixture } from '../dialects/openai.js';
import type { TestAccount } from '../support/client.js';
import { catalogueOf, startGateway, type TestGateway } from '../support/gateway.js';
import { type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';

export interface Spoken {
  /** The provider's id. */
  provider: string;
  /** What a client is given as its model. */
  pin: string;
  fixture: DialectFixture;
}

const spokenAs = (provider: string, fixture: DialectFixture): Spoken => ({
  provider,
  pin: `${provider}/meta/llama-3.3-70b/defra`,
  fixture,
});

/** One line a dialect, for `describe.each`. */
export const dialects: readonly Spoken[] = [
  openAiFixture,
  anthropicFixture,
  geminiFixture,
  bedrockFixture,
  azureFixture,
].map((fixture) => spokenAs(fixture.dialect, fixture));

const bedrockOf = (upstreamModel: string): DialectFixture => {
  const path = `/model/${encodeURIComponent(upstreamModel)}`;
  const paths = { whole: `${path}/converse`, stream: `${path}/converse-stream` };
  return { ...bedrockFixture, upstreamModel, paths };
};

/** Claude as it was before version 4.6, which is told a budget to think with and wants its thoughts back. */
export const budgeted: readonly Spoken[] = [
  spokenAs('anthropic-older', { ...anthropicFixture, upstreamModel: 'claude-sonnet-4-5' }),
  spokenAs('bedrock-older', bedrockOf('eu.anthropic.claude-sonnet-4-5-20250929-v1:0')),
];

const signed = 'CiQB0e2Kb3x5';

/** Gemini gives its calls no ids, and from version 3 on signs the first of a step. */
function unnamedCalls(write: WriteJson): WriteJson {
  const unnamed = (key: string, value: unknown) => {
    if (key !== 'parts') return value;
    return (value as { functionCall?: object }[]).map((part) =>
      part.functionCall ? { functionCall: { ...part.functionCall, id: undefined }, thoughtSignature: signed } : part,
    );
  };
  return (value) => write(JSON.parse(JSON.stringify(value, unnamed)));
}

const gemini3Path = '/v1beta/models/gemini-3-pro-preview';
export const gemini3: Spoken = spokenAs('gemini-newer', {
  ...geminiFixture,
  upstreamModel: 'gemini-3-pro-preview',
  paths: { whole: `${gemini3Path}:generateContent`, stream: `${gemini3Path}:streamGenerateContent?alt=sse` },
  whole: (said) => JSON.parse(unnamedCalls(JSON.stringify)(geminiFixture.whole(said))),
  frames: (said, write) => geminiFixture.frames(said, unnamedCalls(write)),
});

export interface DialectGateway {
  gateway: TestGateway;
  upstream: ScriptedUpstream;
  /** What a client is given as its base address. */
  baseURL: string;
  /** New before each test, with 10 USD. */
  account: TestAccount;
}

export function useDialects(): DialectGateway {
  const rig = {} as DialectGateway;
  beforeAll(async () => {
    rig.upstream = await startUpstream();
    rig.gateway = await startGateway({ catalogue: catalogueAt(rig.upstream.url) });
    rig.baseURL = `${rig.gateway.url}/v1`;
  });
  beforeEach(async () => {
    rig.upstream.reset();
    rig.account = await rig.gateway.createAccount();
  });
  afterAll(async () => {
    await rig.gateway?.stop();
    await rig.upstream?.stop();
  });
  return rig;
}

function catalogueAt(url: string) {
  const all = [...dialects, ...budgeted, gemini3];
  const entries = <Value>(of: (spoken: Spoken) => Value) =>
    Object.fromEntries(all.map((spoken) => [spoken.provider, of(spoken)]));
  return catalogueOf(
    entries(() => url),
    {
      providers: entries(({ fixture: { dialect, basePath } }) => ({ dialect, base_url: `${url}${basePath}` })),
      routes: entries(({ fixture }) => ({ upstream_model: fixture.upstreamModel })),
    },
  );
}
