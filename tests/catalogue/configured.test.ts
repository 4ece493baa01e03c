/** What each provider needs to be usable, and that nothing else makes it so. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { azureRegions, builtinSnapshot, credentials, realRoutes } from './snapshots.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-google-'));
const googleFile = join(folder, 'key.json');
beforeAll(() => writeFileSync(googleFile, '{}'));
afterAll(() => rmSync(folder, { recursive: true }));

const environmentOf = (id: string) =>
  id === 'vertex' ? { ...credentials[id], GOOGLE_APPLICATION_CREDENTIALS: googleFile } : credentials[id]!;

async function configuredIn(env: Record<string, string>): Promise<string[]> {
  const routes = realRoutes(await builtinSnapshot(env));
  return routes.filter(({ provider }) => provider.configured).map(({ id }) => id);
}

describe('a provider of the built-in catalogue', () => {
  it('is not configured in an empty environment, whichever it is', async () => {
    expect(await configuredIn({})).toEqual([]);
  });

  it.each(Object.keys(credentials))(
    '%s: its credential makes all of its routes usable, and nobody else\u2019s',
    async (id) => {
      const all = realRoutes(await builtinSnapshot()).filter(({ provider }) => provider.id === id);
      expect((await configuredIn(environmentOf(id))).sort()).toEqual(all.map((route) => route.id).sort());
    },
  );

  it('has addresses that can be called, once its variables are there', async () => {
    const env = Object.assign({}, ...Object.keys(credentials).map(environmentOf));
    for (const { id, baseUrl, provider } of realRoutes(await builtinSnapshot(env))) {
      expect(provider.configured, id).toBe(true);
      expect(new URL(baseUrl).href, id).not.toMatch(/[${}]|%7B/);
    }
  });

  it('vertex needs a project beside credentials, azure a resource beside a key', async () => {
    expect(await configuredIn({ GOOGLE_APPLICATION_CREDENTIALS: googleFile })).toEqual([]);
    expect(await configuredIn({ AZURE_API_KEY: 'a-key' })).toEqual([]);
  });

  it('bedrock is called where AWS_REGION says, us-east-1 otherwise, and its regional routes where they are', async () => {
    const env = credentials.bedrock!;
    const globalOf = async (more: object) =>
      (await builtinSnapshot({ ...env, ...more })).routes.get('bedrock/anthropic/claude-haiku-4.5/global')!.baseUrl;
    expect(await globalOf({})).toBe('https://bedrock-runtime.us-east-1.amazonaws.com');
    expect(await globalOf({ AWS_REGION: 'eu-west-3' })).toBe('https://bedrock-runtime.eu-west-3.amazonaws.com');
    const { routes } = await builtinSnapshot({ ...env, AWS_REGION: 'eu-west-3' });
    expect(routes.get('bedrock/amazon/nova-lite/sesto')!.baseUrl).toBe(
      'https://bedrock-runtime.eu-north-1.amazonaws.com',
    );
  });

  it('AWS\u2019s own chain is enough for Converse, and Claude within a region needs the API key', async () => {
    const configured = await configuredIn({ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' });
    expect(configured).toContain('bedrock/amazon/nova-lite/sesto');
    expect(configured).toContain('bedrock/anthropic/claude-opus-5/global');
    expect(configured).not.toContain('bedrock/anthropic/claude-opus-5/sesto');
  });

  it('a deployment of Azure in a place is never looked for in a resource of another region', async () => {
    const configured = await configuredIn({ AZURE_API_KEY: 'a-key', AZURE_RESOURCE_NAME: 'ours' });
    expect(configured).toContain('azure/openai/gpt-5.1/global');
    expect(configured.filter((id) => !id.endsWith('/global'))).toEqual([]);
    const sweden = { AZURE_RESOURCE_NAME_SWEDENCENTRAL: 'nord', AZURE_API_KEY_SWEDENCENTRAL: 'its-own-key' };
    const { routes } = await builtinSnapshot(sweden);
    expect(routes.get('azure/openai/gpt-5.1/segvx')).toMatchObject({
      baseUrl: 'https://nord.openai.azure.com/openai/v1',
      provider: { configured: true, apiKey: 'its-own-key' },
    });
    const models = ['gpt-5.1', 'gpt-5-mini', 'gpt-5', 'gpt-5-nano'];
    expect(await configuredIn(sweden)).toEqual(models.map((model) => `azure/openai/${model}/segvx`));
    expect(azureRegions).toHaveLength(11);
  });

  it('the European data zone of Azure is in places of the Union, at its own price, and promises the Union alone', async () => {
    const { routes } = await builtinSnapshot();
    const zone = [...routes.values()].filter(
      ({ provider, processing }) => provider.id === 'azure' && processing === 'eu',
    );
    expect(zone.length).toBeGreaterThan(20);
    for (const { id, country, provider, price, model, dataPolicy } of zone) {
      const global = routes.get(`azure/${model.canonicalId}/global`)!.price!;
      expect([id, provider.headquarters, provider.cloudAct]).toEqual([id, 'US', true]);
      expect(['DE', 'ES', 'FR', 'IT', 'NL', 'PL', 'SE'], id).toContain(country);
      expect(Number(price!.input) / Number(global.input), id).toBeCloseTo(1.1, 1);
      expect(dataPolicy?.in_region, id).toBe(false);
    }
  });

  it('a server of the operator\u2019s own is free, and has a key only where one is set', async () => {
    const { routes } = await builtinSnapshot({ ...credentials.vllm!, VLLM_API_KEY: 'ours' });
    const route = routes.get('vllm/openai/gpt-oss-120b/global')!;
    expect(route).toMatchObject({ price: { input: 0n, output: 0n }, provider: { apiKey: 'ours', auth: 'key' } });
    const open = await builtinSnapshot(credentials.vllm!);
    expect(open.providers.get('vllm')).toMatchObject({ apiKey: null, auth: 'none', configured: true });
  });
});
