// biome-ignore-all lint/suspicious/noTemplateCurlyInString: such texts are what is tested
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { dialects } from '../providers/dialects/registry.js';
import { CatalogueHolder } from './catalogue-holder.js';
import type { ProviderOverrides } from './provider.js';
import type { Route } from './route.js';

const folder = mkdtempSync(join(tmpdir(), 'lodestone-provider-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Setting {
  provider?: string;
  locode?: string;
  route?: string;
  model?: string;
  env?: Record<string, string>;
  settings?: ProviderOverrides;
}

async function holderOf({ provider = '', locode = 'defra', route = '', model = '', env = {}, settings }: Setting) {
  const file = join(folder, 'catalogue.yaml');
  const address = provider.includes('base_url') ? '' : ', base_url: "https://a.example/v1"';
  writeFileSync(
    file,
    `providers: [{ id: acme, api_key_env: ACME_KEY${address}${provider && `, ${provider}`} }]
regions: [{ locode: defra, country: DE }]
models:
  - { creator: meta, model: llama${model && `, ${model}`}, routes: [{ provider: acme, locode: ${locode}${route && `, ${route}`} }] }
`,
  );
  const holder = new CatalogueHolder({
    files: [file],
    providerSettings: settings ? { acme: settings } : {},
    env,
    clock: { now: () => 0, monotonicMs: () => 0 },
    logger: silentLogger,
    dialects,
  });
  return holder;
}

async function routeOf(setting: Setting): Promise<Route> {
  const holder = await holderOf(setting);
  await holder.load();
  return holder.current!.routes.get(`acme/meta/llama/${setting.locode ?? 'defra'}`)!;
}

async function faultsOf(setting: Setting): Promise<string> {
  const outcome = await (await holderOf(setting)).reload();
  return outcome.ok ? '' : outcome.faults.join('\n');
}

const key = { ACME_KEY: 'k' };

describe('a provider whose address names a variable', () => {
  const provider = 'base_url: "https://${ACME_RESOURCE}.example/v1"';
  it('is not configured while the variable is absent, whatever credential there is', async () => {
    const route = await routeOf({ provider, env: key });
    expect(route.provider).toMatchObject({
      configured: false,
      absentVariables: ['ACME_RESOURCE'],
      apiKeyEnv: 'ACME_KEY',
    });
  });

  it('is configured with it', async () => {
    const route = await routeOf({ provider, env: { ...key, ACME_RESOURCE: 'ours' } });
    expect(route).toMatchObject({ baseUrl: 'https://ours.example/v1', provider: { configured: true } });
    expect(route.provider).not.toHaveProperty('absentVariables');
  });

  it('takes an address of the configuration instead', async () => {
    const route = await routeOf({ provider, env: key, settings: { baseUrl: 'https://own.example' } });
    expect(route).toMatchObject({ baseUrl: 'https://own.example', provider: { configured: true } });
  });

  it('refuses a value that is no name', async () => {
    expect(await faultsOf({ provider, env: { ACME_RESOURCE: 'evil.example/' } })).toMatch(
      /:1:\d+: providers\[0\]\.base_url: found a value of ACME_RESOURCE that does not fit/,
    );
  });
});

describe('what differs on one route', () => {
  it('nothing: the route has the very provider of the snapshot', async () => {
    const holder = await holderOf({ route: 'base_url: "https://de.a.example"', env: key });
    await holder.load();
    const { routes, providers } = holder.current!;
    expect(routes.get('acme/meta/llama/defra')!.provider).toBe(providers.get('acme'));
  });

  it('an address with a variable of its own: only this route waits for it', async () => {
    const route = 'base_url: "https://${ACME_DE}.example"';
    const holder = await holderOf({ route, env: key });
    await holder.load();
    expect(holder.current!.providers.get('acme')!.configured).toBe(true);
    expect(holder.current!.routes.get('acme/meta/llama/defra')!.provider).toMatchObject({
      configured: false,
      absentVariables: ['ACME_DE'],
    });
    expect(await routeOf({ route, env: { ...key, ACME_DE: 'de' } })).toMatchObject({
      baseUrl: 'https://de.example',
      provider: { configured: true, apiKey: 'k' },
    });
  });

  it('an address of its own, while that of the provider waits for a variable', async () => {
    const provider = 'base_url: "https://${ACME_RESOURCE}.example"';
    const route = await routeOf({ provider, route: 'base_url: "https://de.example"', env: key });
    expect(route).toMatchObject({ baseUrl: 'https://de.example', provider: { configured: true } });
    expect(route.provider).not.toHaveProperty('absentVariables');
  });

  it('a key of its own wins over the provider\u2019s, and is not needed', async () => {
    const route = 'api_key_env: ACME_DE_KEY';
    expect((await routeOf({ route, env: { ...key, ACME_DE_KEY: 'd' } })).provider.apiKey).toBe('d');
    expect((await routeOf({ route, env: { ACME_DE_KEY: 'd' } })).provider).toMatchObject({
      configured: true,
      apiKeyEnv: 'ACME_DE_KEY',
    });
    expect((await routeOf({ route, env: key })).provider).toMatchObject({ configured: true, apiKey: 'k' });
    expect((await routeOf({ route })).provider.configured).toBe(false);
  });

  it('no key of a route stands in for an api_key that names an absent variable', async () => {
    const setting = { route: 'api_key_env: ACME_DE_KEY', env: { ACME_DE_KEY: 'd' }, settings: { apiKey: null } };
    expect((await routeOf(setting)).provider).toMatchObject({ configured: false, apiKey: null });
  });

  it('the dialect', async () => {
    const route = await routeOf({ provider: 'dialect: azure', route: 'dialect: anthropic', env: key });
    expect(route.provider).toMatchObject({ id: 'acme', dialect: 'anthropic', configured: true });
    expect(await faultsOf({ route: 'dialect: cobol' })).toContain('models[0].routes[0].dialect: found "cobol"');
  });

  it('only Converse is signed: in another dialect AWS is called with a key or not at all', async () => {
    const aws = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    const setting = { provider: 'dialect: bedrock', route: 'dialect: anthropic' };
    expect((await routeOf({ ...setting, env: aws })).provider).toMatchObject({ auth: 'key', configured: false });
    expect((await routeOf({ ...setting, env: { ...aws, ...key } })).provider.configured).toBe(true);
    expect((await routeOf({ provider: 'dialect: bedrock', env: aws })).provider).toMatchObject({
      auth: 'aws',
      configured: true,
    });
  });

  it('the terms of the model\u2019s creator hold whoever serves it', async () => {
    const route = await routeOf({
      provider: 'excluded_territories: [RU, SY]',
      model: 'excluded_territories: [sy, UA-43]',
      env: key,
    });
    expect(route.provider.excludedTerritories).toEqual(['RU', 'SY', 'UA-43']);
  });

  it('limits: its own, the model\u2019s, or none that is published', async () => {
    const model = 'context_window: 1000, max_output_tokens: 100';
    expect(await routeOf({ model })).toMatchObject({ contextWindow: 1000, maxOutputTokens: 100 });
    const route = 'context_window: 500, max_output_tokens: null';
    expect(await routeOf({ model, route })).toMatchObject({ contextWindow: 500, maxOutputTokens: null });
  });

  it('without a region never promises to stay in it, whoever says so', async () => {
    const stated = 'data_policy: { trains: false, in_region: true }';
    const settings = { agreement: { in_region: true } } as ProviderOverrides;
    for (const said of [{ provider: stated }, { route: stated }, { provider: stated, settings }]) {
      expect((await routeOf(said)).dataPolicy).toMatchObject({ trains: false, in_region: true });
      const { dataPolicy } = await routeOf({ ...said, locode: 'global' });
      expect(dataPolicy).toEqual({ trains: false, basis: 'published' });
    }
  });

  it('where its requests are processed, if anybody says so', async () => {
    expect((await routeOf({ route: 'processing: eu' })).processing).toBe('eu');
    expect((await routeOf({})).processing).toBeUndefined();
  });
});

describe('a price', () => {
  it('may be dearer for long prompts, and may have been published in another currency', async () => {
    const price =
      'price: { input: 1.17, output: 2, above: { input_tokens: 200000, input: 3, output: 4, cached_input: 0.5 }, published: { currency: EUR, input: 1.00 } }';
    expect((await routeOf({ route: price })).price).toEqual({
      input: 1_170_000n,
      output: 2_000_000n,
      cachedInput: null,
      bands: [{ fromTokens: 200_001, input: 3_000_000n, output: 4_000_000n, cachedInput: 500_000n }],
      published: { currency: 'EUR', input: '1.00', output: null, cachedInput: null },
    });
  });

  it.each([
    ['above: { input: 1, output: 1 }', 'price.above.input_tokens: found nothing'],
    ['above: { input_tokens: 5, from_tokens: 5 }', 'price.above.input_tokens: found both'],
    [
      'above: { input_tokens: 5, cache_write: -1 }',
      'price.above.cache_write: found -1, expected USD per million tokens',
    ],
    ['cache_write: free', 'price.cache_write: found free, expected USD per million tokens'],
    ['request: 0.0000000000001', 'price.request: found 0.0000000000001, expected USD as a decimal'],
    ['tools: { web_search: often }', 'price.tools.web_search: found often, expected USD as a decimal'],
    ['tiers: { flex: { inptu: 1 } }', 'price.tiers.flex'],
    ['tiers: { flex: { input: x } }', 'price.tiers.flex.input: found x'],
    ['periods: [{ utc: "8-9", input: 1 }]', 'price.periods[0].utc: found "8-9", expected a part of the day'],
    ['periods: [{ utc: "08:00-08:00", input: 1 }]', 'price.periods[0].utc'],
    ['until: 2026-02-30, then: { input: 1 }', 'price.until: found "2026-02-30", expected a date'],
    ['until: 2026-11-21', 'price.then: found nothing, expected it beside `until`'],
    ['then: { input: 1 }', 'price.until: found nothing, expected it beside `then`'],
    ['published: { input: 1 }', 'price.published.currency: found nothing, expected an ISO 4217 code'],
    ['published: { currency: EUR, input: cheap }', 'price.published.input: found cheap'],
  ])('says what is wrong with { %s }', async (fields, message) => {
    expect(await faultsOf({ route: `price: { input: 1, output: 1, ${fields} }` })).toContain(message);
  });
});
