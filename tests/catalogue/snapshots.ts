/** The built-in catalogue as it is loaded in an environment, without a gateway around it. */
import { silentLogger } from '../../src/base/logger.js';
import type { Route, Snapshot } from '../../src/catalogue/route.js';
import { spokenDialects } from '../../src/providers/dialects/registry.js';

type Holder = typeof import('../../src/catalogue/catalogue-holder.js');

/** As it is built, with what the build has read of the files. */
function builtHolder(): Promise<Holder> {
  return import(/* @vite-ignore */ new URL('../../dist/catalogue/catalogue-holder.js', import.meta.url).href);
}

export async function builtinSnapshot(env: Record<string, string> = {}): Promise<Snapshot> {
  const { CatalogueHolder } = await builtHolder();
  const holder = new CatalogueHolder({
    files: ['builtin'],
    providerSettings: {},
    env,
    clock: { now: () => 0, monotonicMs: () => 0 },
    logger: silentLogger,
    dialects: spokenDialects,
  });
  await holder.load();
  return holder.current!;
}

/** Of real providers: the sandbox has figures of its own. */
export function realRoutes({ routes }: Snapshot): Route[] {
  return [...routes.values()].filter(({ provider }) => provider.dialect !== 'sandbox');
}

export const azureRegions = ['CENTRALUS', 'EASTUS2', 'NORTHCENTRALUS', 'SOUTHCENTRALUS', 'SWEDENCENTRAL'];

const fake = 'fake-credential-of-no-value';

/**
 * What makes each provider usable: one variable by its own convention, and where its address holds something of the operator's
 * own, that too. `GOOGLE_APPLICATION_CREDENTIALS` is given by the test, because it must name a file that is there.
 */
export const credentials: Record<string, Record<string, string>> = {
  openai: { OPENAI_API_KEY: fake },
  anthropic: { ANTHROPIC_API_KEY: fake },
  'google-ai-studio': { GEMINI_API_KEY: fake },
  mistral: { MISTRAL_API_KEY: fake },
  deepseek: { DEEPSEEK_API_KEY: fake },
  xai: { XAI_API_KEY: fake },
  cohere: { COHERE_API_KEY: fake },
  moonshotai: { MOONSHOT_API_KEY: fake },
  zai: { ZAI_API_KEY: fake },
  alibaba: { DASHSCOPE_API_KEY: fake },
  bedrock: { AWS_BEARER_TOKEN_BEDROCK: fake },
  vertex: { GOOGLE_CLOUD_PROJECT: 'our-project' },
  azure: {
    AZURE_API_KEY: fake,
    AZURE_RESOURCE_NAME: 'ours',
    ...Object.fromEntries(
      azureRegions.map((region) => [`AZURE_RESOURCE_NAME_${region}`, `ours-${region.toLowerCase()}`]),
    ),
  },
  scaleway: { SCW_SECRET_KEY: fake },
  ovhcloud: { OVH_AI_ENDPOINTS_ACCESS_TOKEN: fake },
  ionos: { IONOS_API_TOKEN: fake },
  stackit: { STACKIT_API_KEY: fake },
  evroc: { EVROC_API_KEY: fake },
  nebius: { NEBIUS_API_KEY: fake },
  groq: { GROQ_API_KEY: fake },
  together: { TOGETHER_API_KEY: fake },
  fireworks: { FIREWORKS_API_KEY: fake },
  deepinfra: { DEEPINFRA_API_KEY: fake },
  cerebras: { CEREBRAS_API_KEY: fake },
  ollama: { OLLAMA_BASE_URL: 'http://127.0.0.1:11434/v1' },
  vllm: { VLLM_BASE_URL: 'http://127.0.0.1:8000/v1' },
};
