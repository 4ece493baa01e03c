/** Routes and policies for tests of the gates: made by hand from the few figures that a gate looks at, or at random. */
import type { DataPolicy, Quantization } from '../../src/base/data-policy.js';
import type { Model, Provider, Route } from '../../src/catalogue/route.js';
import { defaultPolicy, readPolicy } from '../../src/policy/policy.js';
import type { RoutingPolicy } from '../../src/policy/routing-policy.js';
import type { SeededRandom } from './seeded-random.js';

export interface RouteFigures {
  provider?: string;
  creator?: string;
  locode?: string;
  cloudAct?: boolean | null;
  carbon?: number | null;
  /** Pico-dollars a token: `[input, output]`; null = not published. */
  price?: readonly [bigint, bigint] | null;
  dataPolicy?: DataPolicy;
  quantization?: Quantization;
}

/** For routes whose prices do not vary. */
export const anyMoment = { atMs: 0, promptTokens: 0 };

let made = 0;

export function routeWith(figures: RouteFigures = {}): Route {
  const { provider: id = 'acme', creator = 'meta', locode = 'defra', cloudAct = false, carbon = 100 } = figures;
  const price = figures.price === undefined ? ([600_000n, 800_000n] as const) : figures.price;
  const provider = { id, name: id, cloudAct, configured: true } as Provider;
  const model = { creator, model: 'llama', canonicalId: `${creator}/llama`, routes: [] as Route[] } as unknown as Model;
  return {
    id: `${id}/${creator}/llama/${locode}#${++made}`,
    ...{ provider, model, locode, carbon },
    country: locode === 'global' ? null : locode.slice(0, 2).toUpperCase(),
    price: price && { input: price[0], output: price[1], cachedInput: null },
    ...(figures.dataPolicy && { dataPolicy: { ...figures.dataPolicy, basis: 'published' } }),
    ...(figures.quantization && { quantization: figures.quantization }),
  } as Route;
}

export const policyWith = (fields: Partial<RoutingPolicy>): RoutingPolicy =>
  Object.freeze({ ...defaultPolicy, ...fields });

const providers = ['acme', 'zeta', 'omega', 'nimbus'];
const creators = ['meta', 'Mistral', 'qwen'];
const locodes = ['defra', 'deber', 'frpar', 'usnyc', 'global'];
const carbons = [0, 56, 100.5, 344, null];
const priceSteps = [0n, 100_000n, 290_000n, 600_000n, 1_250_000n, 3n];

function randomRoute(random: SeededRandom): Route {
  return routeWith({
    provider: random.pick(providers),
    creator: random.pick(creators),
    locode: random.pick(locodes),
    cloudAct: random.pick([true, false, null]),
    carbon: random.pick(carbons),
    price: random.chance(0.2) ? null : [random.pick(priceSteps), random.pick(priceSteps)],
  });
}

export function randomRoutes(random: SeededRandom, max = 12): Route[] {
  return Array.from({ length: random.below(max + 1) }, () => randomRoute(random));
}

/** By way of the API's own reader, so that settings come as they can come. */
export function randomPolicy(random: SeededRandom): RoutingPolicy {
  const lists = (names: readonly string[], listed = 0.35) => ({
    allow: random.chance(listed) ? names.filter(() => random.chance(0.4)) : [],
    deny: random.chance(listed) ? names.filter(() => random.chance(0.3)) : [],
  });
  return readPolicy({
    deny_cloud_act: random.chance(0.3),
    max_carbon: random.chance(0.4) ? random.pick([0, 56, 100.4, 100.5, 343]) : null,
    max_price: random.chance(0.4) ? random.pick([0, 0.1, 0.29, 0.000003, 0.6, 1]) : null,
    providers: lists(providers),
    creators: lists(creators),
    regions: lists(['DEFRA', 'deber', 'de', 'FR', 'us', 'usnyc']),
    prefer: random.pick(['balanced', 'price', null]),
  });
}
