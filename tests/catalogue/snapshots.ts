/** The built-in catalogue as it is loaded in an environment, without a gateway around it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { silentLogger } from '../../src/base/logger.js';
import type { Route, Snapshot } from '../../src/catalogue/route.js';
import { dialects } from '../../src/providers/dialects/registry.js';

type Holder = typeof import('../../src/catalogue/catalogue-holder.js');

/** As it is built, with what the build has read of the files. */
function builtHolder(): Promise<Holder> {
  return import(/* @vite-ignore */ new URL('../../dist/catalogue/catalogue-holder.js', import.meta.url).href);
}

/** By environment. Nobody changes a snapshot, and loading one takes a fifth of a second. */
const loaded = new Map<string, Promise<Snapshot>>();

export function builtinSnapshot(env: Record<string, string> = {}): Promise<Snapshot> {
  const name = JSON.stringify(env);
  const found = loaded.get(name) ?? loadBuiltin(env);
  loaded.set(name, found);
  return found;
}

async function loadBuiltin(env: Record<string, string>): Promise<Snapshot> {
  const { CatalogueHolder } = await builtHolder();
  const holder = new CatalogueHolder({
    files: ['builtin'],
    providerSettings: {},
    env,
    clock: { now: () => 0, monotonicMs: () => 0 },
    logger: silentLogger,
    dialects,
  });
  await holder.load();
  return holder.current!;
}

/** Of real providers: the sandbox has figures of its own. */
export function realRoutes({ routes }: Snapshot): Route[] {
  return [...routes.values()].filter(({ provider }) => provider.dialect !== 'sandbox');
}

export const azureRegions = [
  ...['CENTRALUS', 'EASTUS2', 'NORTHCENTRALUS', 'SOUTHCENTRALUS', 'SWEDENCENTRAL', 'GERMANYWESTCENTRAL'],
  ...['FRANCECENTRAL', 'WESTEUROPE', 'ITALYNORTH', 'POLANDCENTRAL', 'SPAINCENTRAL'],
];

const fake = 'fake-credential-of-no-value';
const providerFolder = resolve(import.meta.dirname, '../../catalogue/providers');

interface ProviderFile {
  providers: { id: string; api_key_env: string }[];
}

/** Providers that need more than the one variable of their `api_key_env`. */
const otherCredentials: Record<string, Record<string, string>> = {
  /** The test adds `GOOGLE_APPLICATION_CREDENTIALS`, because it must name a file that exists. */
  vertex: { GOOGLE_CLOUD_PROJECT: 'our-project' },
  azure: {
    AZURE_API_KEY: fake,
    AZURE_RESOURCE_NAME: 'ours',
    ...Object.fromEntries(
      azureRegions.map((region) => [`AZURE_RESOURCE_NAME_${region}`, `ours-${region.toLowerCase()}`]),
    ),
  },
  infomaniak: { INFOMANIAK_API_KEY: fake, INFOMANIAK_PRODUCT_ID: '1234' },
  cloudflare: { CLOUDFLARE_API_KEY: fake, CLOUDFLARE_ACCOUNT_ID: 'our-account' },
  ollama: { OLLAMA_BASE_URL: 'http://127.0.0.1:11434/v1' },
  vllm: { VLLM_BASE_URL: 'http://127.0.0.1:8000/v1' },
};

/** The variables that make each provider of the built-in catalogue usable. */
export const credentials: Record<string, Record<string, string>> = Object.fromEntries(
  readdirSync(providerFolder).flatMap((file) => {
    const { providers } = parse(readFileSync(join(providerFolder, file), 'utf8')) as ProviderFile;
    return providers.map(({ id, api_key_env }) => [id, otherCredentials[id] ?? { [api_key_env]: fake }]);
  }),
);
