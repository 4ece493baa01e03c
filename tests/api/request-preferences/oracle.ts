/** The oracle of the wishes of requests: a table of facts, and each gate written down once more, on its own. */
import type { YamlObject } from '../../support/gateway-files.js';
import type { SeededRandom } from '../../support/seeded-random.js';

interface Fact {
  provider: string;
  locode: string;
  cloud_act: boolean | null;
  carbon: number | null;
  price: { input: number; output: number; request?: number };
  data_policy?: {
    trains?: boolean;
    retention_days?: number;
    in_region?: boolean;
    eu_owned?: boolean;
    certifications?: string[];
  };
  quantization?: string;
}

const cheap = { input: 0.5, output: 1 };
const dear = { input: 2, output: 4, request: 0.01 };

/** A provider without credentials, whose failure leads to the chain. Its facts are good. */
export const keyless: Fact = {
  ...{ provider: 'keyless', locode: 'defra', cloud_act: false, carbon: 50, price: cheap, quantization: 'bf16' },
  data_policy: {
    ...{ trains: false, retention_days: 0, in_region: true, eu_owned: true },
    certifications: ['iso27001', 'soc2'],
  },
};

/** Every fact known good, known bad and unknown at some provider. */
export const facts: readonly Fact[] = [
  { ...keyless, provider: 'good' },
  {
    ...{ provider: 'bad', locode: 'frpar', cloud_act: true, carbon: 500, price: dear, quantization: 'int4' },
    data_policy: { trains: true, retention_days: 365, in_region: false, eu_owned: false, certifications: [] },
  },
  { provider: 'silent', locode: 'frpar', cloud_act: null, carbon: null, price: cheap },
  {
    ...{ provider: 'worldwide', locode: 'global', cloud_act: false, carbon: null, price: cheap, quantization: 'fp8' },
    data_policy: { trains: false, retention_days: 30, in_region: true, eu_owned: false, certifications: ['soc2'] },
  },
  {
    ...{ provider: 'mixed', locode: 'defra', cloud_act: false, carbon: 100, price: dear },
    data_policy: { trains: false, eu_owned: true },
  },
];

export const routeOf = ({ provider, cloud_act: _, ...fact }: Fact) => ({ provider, upstream_model: provider, ...fact });

/** The facts as a catalogue, with one more model whose only provider has no credentials. */
export function catalogueAt(url: string, more: readonly YamlObject[]): YamlObject {
  return {
    providers: [
      ...facts.map(({ provider, cloud_act }) => ({ id: provider, base_url: `${url}/v1`, auth: 'none', cloud_act })),
      { id: 'keyless', base_url: `${url}/v1`, api_key_env: 'KEYLESS_API_KEY', cloud_act: false },
    ],
    regions: [
      { locode: 'defra', country: 'DE' },
      { locode: 'frpar', country: 'FR' },
    ],
    models: [
      { creator: 'meta', model: 'gated', routes: facts.map(routeOf) },
      { creator: 'meta', model: 'other', routes: [routeOf(keyless)] },
      ...more,
    ],
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each field has a type of its own, and is made and read in this file only
type Settings = Record<string, any>;

const certificationLists = [['soc2'], ['iso27001', 'soc2'], ['c5'], []];
const quantizationLists = [['bf16'], ['fp8', 'int4'], ['fp32'], []];

export function randomPolicy(random: SeededRandom): Settings {
  const policy: Settings = {};
  const maybe = (name: string, values: readonly unknown[], chance = 0.12) => {
    if (random.chance(chance)) policy[name] = random.pick(values);
  };
  maybe('deny_cloud_act', [true, false]);
  maybe('max_carbon', [50, 100, 499]);
  maybe('max_price', [1, 3, 4]);
  maybe('providers', [
    { allow: ['good', 'silent'], deny: [] },
    { allow: [], deny: ['good'] },
  ]);
  maybe(
    'creators',
    [
      { allow: ['Meta'], deny: [] },
      { allow: [], deny: ['meta'] },
    ],
    0.05,
  );
  maybe('regions', [
    { allow: ['DE'], deny: [] },
    { allow: [], deny: ['frpar'] },
  ]);
  maybe('deny_training', [true]);
  maybe('max_retention_days', [0, 30, 365]);
  maybe('require_in_region', [true]);
  maybe('require_eu_owned', [true]);
  maybe('certifications', certificationLists);
  maybe('quantizations', quantizationLists);
  return policy;
}

export function randomWishes(random: SeededRandom): Settings {
  const wishes: Settings = {};
  const maybe = (name: string, values: readonly unknown[], chance = 0.1) => {
    if (random.chance(chance)) wishes[name] = random.pick(values);
  };
  maybe('only', [['good', 'mixed'], ['silent'], [], null]);
  maybe('ignore', [['good'], ['silent', 'worldwide'], []]);
  maybe('order', [['mixed', 'good'], ['bad'], []]);
  maybe('allow_fallbacks', [false, true]);
  maybe('require_parameters', [true]);
  maybe('data_collection', ['deny', 'allow']);
  maybe('zdr', [true, false]);
  maybe('quantizations', quantizationLists);
  maybe('sort', ['price', 'latency', 'carbon', 'throughput']);
  maybe('max_price', [{ prompt: 1 }, { completion: '3.5' }, { request: 0 }, { prompt: '0.5', completion: 1 }]);
  maybe('max_carbon', [50, 100]);
  maybe('deny_cloud_act', [true]);
  maybe('regions', [{ allow: ['de'] }, { deny: ['FR'] }]);
  maybe('max_retention_days', [0, 30]);
  maybe('require_in_region', [true]);
  maybe('require_eu_owned', [true]);
  maybe('certifications', certificationLists);
  return wishes;
}

type Test = [name: string, isSet: boolean, passes: (fact: Fact) => boolean];

const names = ({ locode }: Fact) => (locode === 'global' ? [] : [locode, locode.slice(0, 2).toUpperCase()]);
const inLists = (own: string[], { allow = [], deny = [] }: { allow?: string[]; deny?: string[] }) => {
  const folded = own.map((one) => one.toLowerCase());
  const has = (list: string[]) => list.some((one) => folded.includes(one.toLowerCase()));
  return (allow.length === 0 || has(allow)) && !has(deny);
};

/** The gates that accounts and requests share, by name. */
function shared(settings: Settings): Record<string, Test> {
  const { max_carbon, regions, max_retention_days: days, certifications = [], quantizations = [] } = settings;
  const all: Test[] = [
    ['deny_cloud_act', settings.deny_cloud_act === true, (fact) => fact.cloud_act === false],
    ['max_carbon', max_carbon !== undefined, ({ carbon }) => carbon !== null && carbon <= max_carbon],
    ['regions', regions !== undefined, (fact) => inLists(names(fact), regions)],
    ['max_retention_days', days !== undefined, (fact) => (fact.data_policy?.retention_days ?? Infinity) <= days],
    [
      'require_in_region',
      settings.require_in_region === true,
      (fact) => fact.locode !== 'global' && fact.data_policy?.in_region === true,
    ],
    ['require_eu_owned', settings.require_eu_owned === true, (fact) => fact.data_policy?.eu_owned === true],
    [
      'certifications',
      certifications.length > 0,
      (fact) => certifications.every((one: string) => fact.data_policy?.certifications?.includes(one)),
    ],
    ['quantizations', quantizations.length > 0, (fact) => quantizations.includes(fact.quantization)],
  ];
  return Object.fromEntries(all.map((test) => [test[0], test]));
}

const training = (name: string, isSet: boolean): Test => [name, isSet, (fact) => fact.data_policy?.trains === false];

function accountTests(policy: Settings): Test[] {
  const of = shared(policy);
  const { max_price, providers, creators } = policy;
  return [
    of.deny_cloud_act!,
    of.max_carbon!,
    ['max_price', max_price !== undefined, ({ price }) => Math.max(price.input, price.output) <= max_price],
    ['providers', providers !== undefined, (fact) => inLists([fact.provider], providers)],
    ['creators', creators !== undefined, () => inLists(['meta'], creators)],
    of.regions!,
    training('deny_training', policy.deny_training === true),
    ...[of.max_retention_days!, of.require_in_region!, of.require_eu_owned!, of.certifications!, of.quantizations!],
  ];
}

function requestTests(wishes: Settings, isPin: boolean): Test[] {
  const { only, ignore = [], order = [], max_price: ceilings } = wishes;
  const days = wishes.zdr === true ? 0 : wishes.max_retention_days;
  const of = shared({ ...wishes, max_retention_days: days });
  const noFallback = !isPin && wishes.allow_fallbacks === false && order.length > 0;
  const affordable = ({ price }: Fact) =>
    price.input <= Number(ceilings.prompt ?? Infinity) &&
    price.output <= Number(ceilings.completion ?? Infinity) &&
    (price.request ?? 0) <= Number(ceilings.request ?? Infinity);
  const tests: Test[] = [
    ['only', (only ?? []).length > 0, ({ provider }) => only.includes(provider)],
    ['ignore', ignore.length > 0, ({ provider }) => !ignore.includes(provider)],
    ['max_price', ceilings !== undefined, affordable],
    ...[of.max_carbon!, of.deny_cloud_act!, of.regions!],
    training('data_collection', wishes.data_collection === 'deny'),
    ...[of.max_retention_days!, of.require_in_region!, of.require_eu_owned!, of.certifications!, of.quantizations!],
    ['allow_fallbacks', noFallback, ({ provider }) => order.includes(provider)],
  ];
  return tests.map(([name, isSet, passes]) => [`provider.${name}`, isSet, passes]);
}

/** What a request is held to: the providers of its key (null = all), the account's policy, and its own wishes. */
export interface Rules {
  scope: readonly string[] | null;
  policy: Settings;
  wishes: Settings;
}

/** `served`: the providers of which one may serve; null where the answer is a 403. */
export function expectedOutcome({ scope, policy, wishes }: Rules, pinned: Fact | null) {
  const candidates = pinned ? [pinned] : facts;
  const scopeTest: Test = ['key_scope', scope !== null, ({ provider }) => scope!.includes(provider)];
  const ofAccount = pinned ? [] : [scopeTest, ...accountTests(policy)];
  const tests = [...ofAccount, ...requestTests(wishes, pinned !== null)];
  const removedBy = candidates.map((fact) => tests.find(([, isSet, passes]) => isSet && !passes(fact))?.[0]);
  const left = candidates.filter((_, i) => removedBy[i] === undefined).map(({ provider }) => provider);
  const counts = tests
    .map(([name]) => [name, removedBy.filter((one) => one === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} removed ${count === 1 ? '1 route' : `${count} routes`}`);
  const ordered = ((wishes.order ?? []) as string[]).filter((provider) => left.includes(provider));
  const isOwnWish = removedBy.every((name) => name === undefined || name.startsWith('provider.'));
  return {
    // The first of an order that is left serves, for none of them fails here.
    served: left.length === 0 ? null : ordered.length > 0 ? ordered.slice(0, 1) : left,
    removed: candidates
      .map(({ provider }, i) => [provider, removedBy[i]] as const)
      .filter(([, gate]) => gate !== undefined)
      .sort(),
    counts: counts.join(', '),
    param: isOwnWish ? 'provider' : 'model',
    hasWishes: Object.values(wishes).some((value) => value !== null && !(Array.isArray(value) && value.length === 0)),
  };
}
