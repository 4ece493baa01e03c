/** An entry of `GET /v1/models`. */
import {
  certificationNames,
  type DataPolicyInForce,
  type Quantization,
  quantizationNames,
  zeroRetentionKinds,
} from '../../base/data-policy.js';
import { isOld } from '../../catalogue/dates.js';
import { priceAt, priceProvenance } from '../../catalogue/price.js';
import { type Model, modelKinds, type Route } from '../../catalogue/route.js';
import { record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { commonValue, pricingOf } from './model-pricing.js';
import { architectureOf, supportedParameters } from './model-traits.js';

export type ModelEntry = ReturnType<typeof entry> & {
  provider: string;
  locode: string | null;
  /** What a name of the operator stands for; only on names. */
  name_of?: string;
};

/** The smallest known value, which every route offers. */
function smallest(routes: readonly Route[], read: (route: Route) => number | null): number | null {
  const known = routes.map(read).filter((value) => value !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** For models whose entry in the catalogue has no date: 2025-01-01. */
const createdOtherwise = 1_735_689_600;

/** The date of the model's entry, in seconds, so that it stays the same in every process and after every reload. */
function createdOf({ provenance }: Model): number {
  const ms = Date.parse(provenance?.asOf ?? '');
  return Number.isNaN(ms) ? createdOtherwise : ms / 1000;
}

/** OpenAI's model object with what the catalogue knows about its routes. */
function entry(id: string, model: Model, routes: readonly Route[], atMs: number) {
  const asOf = commonValue(routes, (route) => priceProvenance(route).asOf);
  return {
    id,
    object: 'model' as const,
    created: createdOf(model),
    owned_by: model.creator,
    name: model.name,
    kind: model.kind ?? 'chat',
    architecture: architectureOf(model, routes),
    ...(model.dimensions !== undefined && { dimensions: model.dimensions }),
    // The window of a model that writes nothing is what it reads.
    context_length: smallest(routes, ({ contextWindow }) => contextWindow ?? model.maxInputTokens ?? null),
    max_output_tokens: smallest(routes, ({ maxOutputTokens }) => maxOutputTokens),
    pricing: pricingOf(routes, atMs),
    as_of: asOf,
    stale: isOld(asOf, atMs),
    pricing_until_changed: routes.some(({ price }) => price !== null && priceAt(price, atMs).offer !== undefined),
    country: commonValue(routes, (route) => route.country),
    carbon: commonValue(routes, (route) => route.carbon),
    cloud_act: commonValue(routes, (route) => route.provider.cloudAct),
    data_policy: null as DataPolicyInForce | null,
    quantization: null as Quantization | null,
    supported_parameters: supportedParameters(model, routes),
    ...lifeOf(routes),
  };
}

function lifeOf(routes: readonly Route[]) {
  const ends = routes.flatMap(({ life }) => life?.retires ?? []).sort((a, b) => b.atMs - a.atMs);
  const [last] = ends.length === routes.length ? ends : [];
  return {
    released: commonValue(routes, ({ life }) => life?.released ?? null),
    deprecated: commonValue(routes, ({ life }) => life?.deprecated ?? null),
    retires: last ? { date: last.date, replaced_by: last.replacedBy } : null,
  };
}

export function routeEntry(route: Route, atMs: number, id = route.id): ModelEntry {
  const { provider, locode, dataPolicy = null, quantization = null } = route;
  const facts = id === route.id ? { data_policy: dataPolicy, quantization } : {};
  return { ...entry(id, route.model, [route], atMs), provider: provider.id, locode, ...facts };
}

/** `routes` are the servable routes, from which the walk chooses. */
export function autoEntry(
  model: Model,
  routes: readonly Route[],
  atMs: number,
  id = `auto/${model.canonicalId}`,
): ModelEntry {
  return { ...entry(id, model, routes, atMs), provider: 'auto', locode: null };
}

const perUse = (what: string, unit = 'US dollars') =>
  s.textOrNull(`${what}, ${unit}, an exact decimal; null where routes differ or nothing is published.`, {
    pattern: '^\\d+(\\.\\d{1,12})?$',
  });
const perToken = (what: string) => perUse(what, 'US dollars a token');

const dayFormat = { format: 'date' };

const dataPolicyFields = s.objectOrNull(
  'What becomes of the data, as in force. An absent field is not known. Null for `auto/` ids and aliases.',
  {
    ...s.optionals({
      trains: s.boolean('Paid API requests are used for training where no setting is changed.'),
      retention_days: s.integer('How long prompts or answers are kept by default; 0 = nothing is kept.', {
        minimum: 0,
      }),
      zdr: s.oneOfValues(zeroRetentionKinds, 'Whether zero retention can be had, and how.'),
      in_region: s.boolean(
        'The provider promises that processing stays in the region of the route. Never there on a `global` route, which has none.',
      ),
      eu_owned: s.boolean('Headquarters and ultimate parent are in the EU.'),
      certifications: s.array({ type: 'string', enum: [...certificationNames] }, 'Those that are known.'),
      source: s.text('Where the facts are from.'),
      as_of: s.text('When they were read.'),
    }),
    basis: s.oneOfValues(
      ['published', 'agreement', 'own_agreement'],
      '`agreement` where the operator has agreed on one of the fields, `own_agreement` where the customer has.',
    ),
  },
);

export const shownModel = record('Model', {
  id: s.text('The id to send as `model`.'),
  object: { const: 'model' },
  name_of: s.optional(s.text('Only on a name of the operator: the id that it stands for.')),
  created: s.integer('When the catalogue was loaded, Unix time.'),
  owned_by: s.text('The creator.'),
  name: s.text('The model’s name, for people.'),
  kind: s.oneOfValues(modelKinds, 'What it does, which decides at which endpoint it is served.'),
  architecture: s.object({
    modality: s.text(
      'What goes in and what comes out: `text->text`, `text+image->text`, `text->embeddings`, `text->rerank`.',
    ),
    input_modalities: s.texts('What it reads.'),
    output_modalities: s.texts('What it writes.'),
  }),
  dimensions: s.optional(
    s.integer('The length of an embedding model’s vectors; absent where none is published.', { minimum: 1 }),
  ),
  context_length: s.integerOrNull('Tokens.'),
  max_output_tokens: s.integerOrNull('Tokens.'),
  pricing: s.object({
    prompt: perToken('Input'),
    completion: perToken('Output'),
    input_cache_read: perToken('Cached input'),
    input_cache_write: perToken('Input that is written to a cache'),
    input_cache_write_1h: perToken('Input that is written to a cache for an hour'),
    request: perUse('A request, beside its tokens'),
    image: perToken('Input of images'),
    audio: perToken('Input of audio'),
    internal_reasoning: perToken('Reasoning'),
    web_search: perUse('A search of the web that the provider makes'),
  }),
  as_of: s.textOrNull('The date of the prices in the catalogue; null where it has none, or where routes differ.'),
  stale: s.boolean('That date is more than 90 days ago.'),
  pricing_until_changed: s.boolean(
    'An offer without a known end: the price holds until the catalogue says otherwise. On `auto/` ids: of at least one route.',
  ),
  provider: s.text('The provider, or `auto`.'),
  locode: s.textOrNull('The region, or `global`; null for `auto`.'),
  country: s.textOrNull('ISO 3166-1.'),
  carbon: s.numberOrNull('gCO2e/kWh.'),
  cloud_act: s.booleanOrNull('Whether the provider falls under the US CLOUD Act.'),
  data_policy: dataPolicyFields,
  quantization: s.oneOfValues([...quantizationNames, null], 'The precision of the weights; null where not known.'),
  supported_parameters: s.texts('Parameters of a request that are applied.'),
  released: s.textOrNull('The day of its release; null where it is not known, or where routes differ.', dayFormat),
  deprecated: s.textOrNull(
    'Since when it is deprecated; null where it is not known, or where routes differ.',
    dayFormat,
  ),
  retires: s.objectOrNull(
    'Its retirement; null where none is announced. An `auto/` id retires with the last of its routes.',
    {
      date: s.text('From this day on, 00:00 UTC, it is not served.', dayFormat),
      replaced_by: s.textOrNull('The model to change to, `creator/model`; null where none is known.'),
    },
  ),
});
