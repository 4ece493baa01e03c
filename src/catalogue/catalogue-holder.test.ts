import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../base/logger.js';
import { dialects } from '../providers/dialects/registry.js';
import { CatalogueHolder, type HolderOptions } from './catalogue-holder.js';

const directory = mkdtempSync(join(tmpdir(), 'lodestone-catalogue-'));
afterAll(() => rmSync(directory, { recursive: true }));

let count = 0;
function fileOf(content: string): string {
  const path = join(directory, `c${count++}.yaml`);
  writeFileSync(path, content);
  return path;
}

function holderOf(files: string[], options: Partial<HolderOptions> = {}): CatalogueHolder {
  const clock = { now: () => 1234, monotonicMs: () => 0 };
  return new CatalogueHolder({
    files,
    providerSettings: {},
    env: {},
    clock,
    logger: silentLogger,
    dialects,
    ...options,
  });
}

async function loaded(content: string, options: Partial<HolderOptions> = {}) {
  const holder = holderOf([fileOf(content)], options);
  await holder.load();
  return holder.current!;
}

const base = `
providers:
  - { id: acme, name: Acme Cloud, dialect: openai, base_url: "http://a.example/v1/", api_key_env: ACME_KEY, headquarters: us, cloud_act: true, excluded_territories: [RU] }
  - { id: local, base_url: "http://127.0.0.1:1", auth: none }
regions:
  - { locode: DEFRA, city: Frankfurt, country: DE, lat: 50.1, lon: 8.7, carbon: 344 }
  - { locode: frpar, country: FR }
`;
const model = (routes: string) => `${base}models:\n  - creator: meta\n    model: llama\n    routes:\n${routes}\n`;

describe('a loaded catalogue', () => {
  it('resolves providers, regions and routes', async () => {
    const snapshot = await loaded(
      model(`      - { provider: acme, locode: DEFRA, upstream_model: llama-i, price: { input: 0.60, output: "0.80", cached_input: 0.3 }, capabilities: [tools, n], daily_token_quota: 5, stream_usage: false, base_url: "https://eu.example/v1" }
      - { provider: acme, locode: global, carbon: 12.5 }
      - { provider: local, locode: defra, carbon: null, price: { input: 0, output: 0 } }`),
    );
    expect(snapshot.loadedAt).toBe(1234);
    expect(snapshot.providers.get('acme')).toEqual({
      id: 'acme',
      name: 'Acme Cloud',
      dialect: 'openai',
      baseUrl: 'http://a.example/v1',
      apiKey: null,
      auth: 'key',
      configured: false,
      apiKeyEnv: 'ACME_KEY',
      headquarters: 'US',
      cloudAct: true,
      excludedTerritories: ['RU'],
    });
    expect(snapshot.providers.get('local')).toMatchObject({
      name: 'local',
      dialect: 'openai',
      configured: true,
      cloudAct: null,
    });
    const { model: owner, provider, ...route } = snapshot.routes.get('acme/meta/llama/defra')!;
    expect(owner).toBe(snapshot.models.get('meta/llama'));
    expect(provider).toBe(snapshot.providers.get('acme'));
    expect(route).toEqual({
      id: 'acme/meta/llama/defra',
      locode: 'defra',
      country: 'DE',
      isDefault: true,
      upstreamModel: 'llama-i',
      baseUrl: 'https://eu.example/v1',
      price: { input: 600_000n, output: 800_000n, cachedInput: 300_000n },
      carbon: 344,
      capabilities: new Set(['tools', 'n']),
      dailyTokenQuota: 5,
      streamUsage: false,
      contextWindow: null,
      maxOutputTokens: null,
    });
    expect(snapshot.routes.get('acme/meta/llama/global')).toMatchObject({
      isDefault: false,
      country: null,
      carbon: 12.5,
      price: null,
      upstreamModel: 'llama',
      streamUsage: true,
    });
    expect(snapshot.routes.get('local/meta/llama/defra')).toMatchObject({
      isDefault: true,
      carbon: null,
      price: { input: 0n, output: 0n, cachedInput: null },
    });
    expect(snapshot.upstreamModels.get('acme llama-i')).toEqual(new Set(['meta/llama']));
    expect(snapshot.upstreamModels.get('acme llama')).toEqual(new Set(['meta/llama']));
  });

  it('takes the marked route as the default, else the first of the provider', async () => {
    const snapshot = await loaded(
      model(`      - { provider: acme, locode: defra }
      - { provider: acme, locode: frpar, default: true }
      - { provider: local, locode: frpar }
      - { provider: local, locode: global }`),
    );
    const defaults = [...snapshot.routes.values()].filter((route) => route.isDefault).map((route) => route.id);
    expect(defaults).toEqual(['acme/meta/llama/frpar', 'local/meta/llama/frpar']);
  });

  it.each([
    ['api_key_env of the environment', {}, { ACME_KEY: 'e\n' }, { apiKey: 'e', configured: true }],
    ['an empty variable', {}, { ACME_KEY: '' }, { apiKey: null, configured: false }],
    ['api_key, which wins', { apiKey: 'c' }, { ACME_KEY: 'e' }, { apiKey: 'c', configured: true }],
    ['api_key that names an absent variable', { apiKey: null }, { ACME_KEY: 'e' }, { apiKey: null, configured: false }],
    ['base_url override', { baseUrl: 'http://other' }, {}, { baseUrl: 'http://other', configured: false }],
  ])('configures a provider by %s', async (_, acme, env, expected) => {
    expect((await loaded(base, { providerSettings: { acme }, env })).providers.get('acme')).toMatchObject(expected);
  });

  it('lets later files win, entry by entry', async () => {
    const first = fileOf(model('      - { provider: acme, locode: defra }\n      - { provider: acme, locode: frpar }'));
    const second = fileOf(
      'providers: [{ id: acme, base_url: "http://new" }]\nregions: [{ locode: frpar, country: FR, carbon: 44 }]\nmodels: [{ creator: meta, model: llama, routes: [{ provider: acme, locode: frpar }] }]',
    );
    const holder = holderOf([first, second]);
    await holder.load();
    const snapshot = holder.current!;
    expect([...snapshot.routes.keys()]).toEqual(['acme/meta/llama/frpar']);
    expect(snapshot.routes.get('acme/meta/llama/frpar')).toMatchObject({ carbon: 44, baseUrl: 'http://new' });
    expect(snapshot.providers.get('acme')!.excludedTerritories).toEqual([]);
    expect(snapshot.providers.has('local')).toBe(true);
  });
});

describe('reload', () => {
  it('keeps the old snapshot on a fault, and swaps it whole when the fault is gone', async () => {
    const path = fileOf(model('      - { provider: acme, locode: defra }'));
    const holder = holderOf([path]);
    expect(holder.current).toBeNull();
    await holder.load();
    const old = holder.current;
    writeFileSync(path, 'models: [{ creator: a }]');
    const refused = await holder.reload();
    expect(refused).toMatchObject({ ok: false });
    expect(refused.ok === false && refused.faults.length).toBe(2);
    expect(holder.current).toBe(old);
    writeFileSync(path, model('      - { provider: acme, locode: defra }\n      - { provider: acme, locode: frpar }'));
    expect(await holder.reload()).toMatchObject({ ok: true, models: 1, routes: 2, providers: 2 });
    expect(holder.current).not.toBe(old);
    expect(old!.routes.size).toBe(1);
  });
});

describe('the built-in catalogue', () => {
  it('loads without a fault, with every sandbox model, free unless it is the unpriced one', async () => {
    const holder = holderOf(['builtin']);
    await holder.load();
    const snapshot = holder.current!;
    for (const name of ['echo', 'slow', 'timeout', 'stall', 'capacity', 'reject', 'quota', 'flaky', 'server-error']) {
      const route = snapshot.routes.get(`sandbox/lodestone/${name}/global`);
      expect(route, name).toMatchObject({
        isDefault: true,
        price: { input: 0n, output: 0n },
        provider: { configured: true },
      });
    }
    expect(snapshot.routes.get('sandbox/lodestone/unpriced/global')!.price).toBeNull();
    expect(snapshot.models.get('lodestone/failover')!.routes.map((route) => route.upstreamModel)).toEqual([
      'server-error',
      'echo',
    ]);
    expect(snapshot.regions.get('defra')).toEqual({
      locode: 'defra',
      city: 'Frankfurt am Main',
      country: 'DE',
      lat: 50.12,
      lon: 8.68,
      carbon: 342.06,
      provenance: { source: expect.stringContaining('Ember'), asOf: '2024' },
    });
    expect(snapshot.regions.size).toBe(37);
  });
});

it('says which served routes a reload leaves without a price', async () => {
  const route = (price: string) =>
    `      - { provider: local, locode: defra${price} }\n      - { provider: acme, locode: defra${price} }`;
  const file = fileOf(model(route(', price: { input: 1, output: 2 }')));
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const holder = holderOf([file], { logger });
  await holder.load();
  writeFileSync(file, model(route('')));
  expect((await holder.reload()).ok).toBe(true);
  // The provider without credentials was not served before either.
  expect(warnings).toEqual([{ routes: ['local/meta/llama/defra'] }]);
  await holder.reload();
  expect(warnings).toHaveLength(1);
});
