/** The schemas of catalogue entries: providers, regions, models and their routes. */
import { z } from 'zod';
import { dataPolicy, quantizationNames } from '../base/data-policy.js';
import {
  anything,
  country,
  field,
  fields,
  integerFrom,
  isProviderId,
  listOf,
  numberFrom,
  oneOf,
  providerIdExpected,
  territory,
  text,
  yesOrNo,
} from '../base/yaml-fields.js';
import { lifeFields } from './life.js';
import { priceFields } from './price-fields.js';
import { addressTemplate } from './provider-address.js';
import { capabilities, droppableParameters, modelKinds, processingScopes, spokenApis } from './route.js';

const segment = field(
  'a segment of an id: letters, digits and . _ : @ + -, beginning with a letter or digit',
  (value) => (typeof value === 'string' && /^[a-z0-9][a-z0-9._:@+-]{0,127}$/i.test(value) ? value : undefined),
);
const providerId = field(providerIdExpected, (value) =>
  typeof value === 'string' && isProviderId(value) ? value : undefined,
);
const locode = (expected: string, pattern: RegExp) =>
  field(expected, (value) => (typeof value === 'string' && pattern.test(value) ? value.toLowerCase() : undefined));
const regionLocode = locode('a locode of five letters or digits', /^[a-z0-9]{5}$/i);
const routeLocode = locode('a locode of five letters or digits, or global', /^([a-z0-9]{5}|global)$/i);
const variableName = field('the name of an environment variable', (value) =>
  typeof value === 'string' && /^[a-z_][a-z0-9_]*$/i.test(value) ? value : undefined,
);

/** Where the figures of an entry are from. `lodestone catalogue check --strict` asks for both. */
const provenance = { source: text.nullish(), as_of: text.nullish() };

/** Made from public lists by a program: a person has not verified it. `lodestone catalogue check --strict` refuses it. */
const draft = { draft: yesOrNo.nullish() };

const apis = listOf(oneOf(spokenApis), `APIs (${spokenApis.join(', ')})`);

export const provider = fields({
  id: providerId,
  name: text.nullish(),
  dialect: text.nullish(),
  base_url: addressTemplate.nullish(),
  api_key_env: variableName.nullish(),
  auth: oneOf(['key', 'none', 'aws', 'google']).nullish(),
  // The client APIs that the provider speaks itself, where its dialect does not say it.
  apis: apis.nullish(),
  headquarters: country.nullish(),
  cloud_act: yesOrNo.nullish(),
  excluded_territories: listOf(territory, 'ISO 3166 codes').nullish(),
  data_policy: dataPolicy.nullish(),
  ...provenance,
});

export const region = fields({
  locode: regionLocode,
  city: text.nullish(),
  country,
  lat: numberFrom(-90, 90).nullish(),
  lon: numberFrom(-180, 180).nullish(),
  carbon: numberFrom(0).nullish(),
  ...provenance,
});

const unsupportedParameters = listOf(oneOf(droppableParameters), `parameters (${droppableParameters.join(', ')})`);

export const model = fields({
  creator: segment,
  model: segment,
  name: text.nullish(),
  kind: oneOf(modelKinds).nullish(),
  dimensions: integerFrom(1).nullish(),
  // The model has vectors of one length only.
  fixed_dimensions: yesOrNo.nullish(),
  max_input_tokens: integerFrom(1).nullish(),
  context_window: integerFrom(1).nullish(),
  max_output_tokens: integerFrom(1).nullish(),
  // From the creator's terms, which apply to every provider of the model.
  excluded_territories: listOf(territory, 'ISO 3166 codes').nullish(),
  // For every route without a list of its own.
  unsupported_parameters: unsupportedParameters.nullish(),
  ...lifeFields,
  ...provenance,
  ...draft,
  routes: z.array(anything, { error: 'a list of routes' }).min(1, { error: 'at least one route' }),
});

const routeShape = {
  provider: text,
  locode: routeLocode,
  default: yesOrNo.nullish(),
  upstream_model: text.nullish(),
  // For providers with several kinds of endpoints, or a key for each: what differs on this route.
  dialect: text.nullish(),
  apis: apis.nullish(),
  // The provider takes no chat completions for the model.
  responses_only: yesOrNo.nullish(),
  base_url: addressTemplate.nullish(),
  api_key_env: variableName.nullish(),
  processing: oneOf(processingScopes).nullish(),
  // Fields win one by one over the provider's; null = not known.
  data_policy: dataPolicy.nullish(),
  quantization: oneOf(quantizationNames).nullish(),
  // Null = not published; absent = the model's value, and for carbon the region's.
  context_window: integerFrom(1).nullish(),
  max_output_tokens: integerFrom(1).nullish(),
  price: priceFields.nullish(),
  carbon: numberFrom(0).nullish(),
  capabilities: listOf(oneOf(capabilities), `capabilities (${capabilities.join(', ')})`).nullish(),
  unsupported_parameters: unsupportedParameters.nullish(),
  daily_token_quota: integerFrom(1).nullish(),
  // The most inputs that one call for embeddings takes; absent = as the dialect has it.
  max_batch: integerFrom(1).nullish(),
  stream_usage: yesOrNo.nullish(),
  hidden_reasoning: yesOrNo.nullish(),
  // Each wins over the model's.
  ...lifeFields,
  ...provenance,
  ...draft,
};

export const route = fields(routeShape);

/** A route of `routes`: its model is an entry of this file or of an earlier one. */
export const addedRoute = fields({ model: text, ...routeShape });

/** What a file may have: four lists, and the rates of currencies. */
export const lists = fields({
  providers: anything.optional(),
  regions: anything.optional(),
  models: anything.optional(),
  routes: anything.optional(),
  currencies: anything.optional(),
});

export type ProviderEntry = z.infer<typeof provider>;
export type RegionEntry = z.infer<typeof region>;
export type ModelFields = z.infer<typeof model>;
export type RouteFields = z.infer<typeof route>;
