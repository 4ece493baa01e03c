/** A small routing snapshot for unit tests: two providers of one model, and one model each that cannot be served. */
import type { Capability, Model, Provider, Route, Snapshot } from '../../src/catalogue/route.js';

function provider(id: string, configured: boolean, cloudAct: boolean | null): Provider {
  const name = `${id} cloud`;
  const apiKey = configured ? 'secret' : null;
  const baseUrl = 'http://127.0.0.1:9/v1';
  return {
    id,
    name,
    dialect: 'openai',
    baseUrl,
    apiKey,
    configured,
    headquarters: null,
    cloudAct,
    excludedTerritories: [],
  };
}

interface RouteOptions {
  locode: string;
  priced?: boolean;
  carbon?: number | null;
  capabilities?: Capability[];
  isDefault?: boolean;
}

function route(by: Provider, model: Model, options: RouteOptions): Route {
  const { locode, priced = true, carbon = null, capabilities = [], isDefault = true } = options;
  return {
    id: `${by.id}/${model.canonicalId}/${locode}`,
    provider: by,
    model,
    locode,
    country: locode === 'global' ? null : locode.slice(0, 2).toUpperCase(),
    isDefault,
    upstreamModel: model.model,
    baseUrl: by.baseUrl,
    price: priced ? { input: 600_000n, output: 800_000n, cachedInput: null } : null,
    carbon,
    capabilities: new Set(capabilities),
    dailyTokenQuota: null,
    streamUsage: true,
    contextWindow: model.contextWindow,
    maxOutputTokens: model.maxOutputTokens,
  };
}

function model(creator: string, name: string, routesOf: (model: Model) => Route[]): Model {
  const routes: Route[] = [];
  const canonicalId = `${creator}/${name}`;
  const made: Model = { creator, model: name, canonicalId, name, contextWindow: 8192, maxOutputTokens: 1024, routes };
  routes.push(...routesOf(made));
  return made;
}

/**
 * `acme` serves `meta/llama` in defra (default) and usnyc, `zeta` serves it globally; `bare` has no credential, and
 * `meta/unpriced` no price.
 */
export function smallSnapshot(loadedAt = 1_700_000_000_000): Snapshot {
  const acme = provider('acme', true, true);
  const zeta = provider('zeta', true, false);
  const bare = provider('bare', false, null);
  const models = [
    model('meta', 'llama', (llama) => [
      route(acme, llama, { locode: 'defra', carbon: 344, capabilities: ['tools', 'n'] }),
      route(acme, llama, { locode: 'usnyc', isDefault: false }),
      route(zeta, llama, { locode: 'global', capabilities: ['response_format', 'vision'] }),
      route(bare, llama, { locode: 'global' }),
    ]),
    model('meta', 'unpriced', (unpriced) => [route(acme, unpriced, { locode: 'global', priced: false })]),
  ];
  return {
    loadedAt,
    providers: new Map([acme, zeta, bare].map((one) => [one.id, one])),
    regions: new Map(),
    models: new Map(models.map((one) => [one.canonicalId, one])),
    routes: new Map(models.flatMap((one) => one.routes).map((one) => [one.id, one])),
    upstreamModels: new Map(),
  };
}
