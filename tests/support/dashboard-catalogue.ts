/** A catalogue for the dashboard's tests: invented providers on three continents, with prices, that the sandbox plays. */
import type { YamlObject } from './gateway-files.js';

const provider = (id: string, name: string, headquarters: string, cloudAct: boolean | null) => ({
  ...{ id, name, dialect: 'sandbox', auth: 'none', headquarters },
  ...(cloudAct !== null && { cloud_act: cloudAct }),
});

const route = (name: string, locode: string, input: number, output: number, extra: YamlObject = {}) => ({
  ...{ provider: name, locode, upstream_model: 'echo', capabilities: ['tools', 'response_format', 'n'] },
  ...{ price: { input, output }, ...extra },
});

/** A price of every kind that the Models page shows. */
const everyPrice: YamlObject = {
  ...{ input: 0.59, output: 0.79, cached_input: 0.06, cache_write: 0.74, cache_write_1h: 1.18 },
  tools: { web_search: 0.01 },
  above: { input_tokens: 100_000, input: 1.18, output: 1.58 },
  tiers: { flex: { input: 0.3, output: 0.4 }, priority: { input: 1.2, output: 1.6 } },
  // Of a class that no test uses, so that what a request costs does not depend on the time of day.
  periods: [{ utc: '22:00-06:00', cached_input: 0.03 }],
};

const strict: YamlObject = {
  ...{
    trains: false,
    retention_days: 0,
    zdr: 'default',
    in_region: true,
    eu_owned: true,
    certifications: ['iso27001'],
  },
  ...{ source: 'https://northwind.example/privacy', as_of: '2026-11-15' },
};

const size = { context_window: 131_072, max_output_tokens: 8192 };

const region = (locode: string, city: string, country: string, lat: number, lon: number, carbon: number) => ({
  ...{ locode, city, country, lat, lon, carbon },
});

export const dashboardCatalogue: YamlObject = {
  regions: [
    region('defra', 'Frankfurt am Main', 'DE', 50.12, 8.68, 342),
    region('frpar', 'Paris', 'FR', 48.85, 2.35, 44),
    region('sesto', 'Stockholm', 'SE', 59.33, 18.06, 36),
    region('gblon', 'London', 'GB', 51.51, -0.13, 216),
    region('usqas', 'Ashburn, Virginia', 'US', 39.05, -77.48, 384),
    region('usbda', 'Boardman, Oregon', 'US', 45.84, -119.7, 384),
    region('brsao', 'São Paulo', 'BR', -23.55, -46.63, 106),
    region('jptyo', 'Tokyo', 'JP', 35.68, 139.77, 484),
    region('sgsin', 'Singapore', 'SG', 1.28, 103.85, 499),
  ],
  providers: [
    provider('sandbox', 'Lodestone sandbox', 'DE', false),
    { ...provider('northwind', 'Northwind AI', 'DE', false), data_policy: strict },
    { ...provider('boreal', 'Boreal Compute', 'SE', false), data_policy: { ...strict, retention_days: 30 } },
    provider('cascade', 'Cascade Cloud', 'US', true),
    provider('tsukimi', 'Tsukimi Labs', 'JP', null),
    {
      ...{ id: 'meridian', name: 'Meridian', dialect: 'openai', base_url: 'http://127.0.0.1:9/v1' },
      ...{ api_key_env: 'MERIDIAN_API_KEY', headquarters: 'GB', cloud_act: false },
    },
  ],
  models: [
    {
      ...{ creator: 'lodestone', model: 'echo', name: 'Echo', ...size },
      routes: [{ provider: 'sandbox', locode: 'global', price: { input: 0, output: 0 } }],
    },
    {
      ...{ creator: 'meta', model: 'llama-3.3-70b', name: 'Llama 3.3 70B', ...size },
      routes: [
        route('northwind', 'defra', 0.59, 0.79, { default: true, price: everyPrice }),
        route('northwind', 'frpar', 0.62, 0.82),
        route('boreal', 'sesto', 0.71, 0.9),
        route('cascade', 'usqas', 0.4, 0.52),
        route('tsukimi', 'jptyo', 0.88, 1.1),
        route('meridian', 'gblon', 0.6, 0.8),
      ],
    },
    {
      ...{ creator: 'mistral', model: 'small-3.2', name: 'Mistral Small 3.2', ...size },
      routes: [route('boreal', 'sesto', 0.1, 0.3, { default: true }), route('northwind', 'frpar', 0.12, 0.31)],
    },
    {
      ...{ creator: 'qwen', model: 'qwen3-32b', name: 'Qwen3 32B', ...size },
      routes: [
        route('cascade', 'usbda', 0.29, 0.59, { default: true }),
        route('tsukimi', 'sgsin', 0.35, 0.7),
        route('cascade', 'brsao', 0.45, 0.8),
      ],
    },
  ],
};
