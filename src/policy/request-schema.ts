/** The JSON schema of each field of a request's `provider` object. */
import { type JsonSchema, orNullEach } from '../base/json-schema.js';
import { policySchemas } from './policy.js';
import { requestSorts } from './request-sorts.js';
import type { RoutingPolicy } from './routing-policy.js';

/** An id must also be one of the catalogue, which a schema cannot say. */
const ids = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description });
const shared = (name: keyof RoutingPolicy): JsonSchema => {
  const { type, minimum, items, properties, additionalProperties } = policySchemas[name];
  const keywords = Object.entries({ type, minimum, items, properties, additionalProperties });
  const own = Object.fromEntries(keywords.filter(([, value]) => value !== undefined));
  return { ...own, description: `The gate \`${name}\`, for this request.` };
};
const ceiling = (description: string): JsonSchema => ({
  type: ['number', 'string'],
  minimum: 0,
  pattern: '^\\d{1,30}(\\.\\d{1,30})?$',
  description,
});

export const preferenceSchemas: Readonly<Record<string, JsonSchema>> = orNullEach({
  only: ids('Provider ids: nobody else is asked.'),
  ignore: ids('Provider ids: none of these is asked.'),
  order: ids('Provider ids: these are tried first, in this order.'),
  allow_fallbacks: {
    type: 'boolean',
    description: '`false` with `order`: nobody but those. Without it: only the best candidate is tried.',
  },
  require_parameters: {
    type: 'boolean',
    description: 'Accepted. A route that cannot apply a parameter is never used.',
  },
  data_collection: { type: 'string', enum: ['allow', 'deny'], description: '`deny`: the gate `deny_training`.' },
  zdr: { type: 'boolean', description: '`true`: the gate `max_retention_days` with 0.' },
  sort: { type: 'string', enum: requestSorts, description: 'What counts most in the ranking, for this request.' },
  max_price: {
    type: 'object',
    description: 'Ceilings of the prices that hold for this request.',
    properties: {
      prompt: ceiling('USD per million tokens.'),
      completion: ceiling('USD per million tokens.'),
      request: ceiling('USD per request.'),
    },
    additionalProperties: false,
  },
  sticky: { type: 'boolean', description: '`false`: the request does not follow the route of its conversation.' },
  max_carbon: shared('max_carbon'),
  deny_cloud_act: shared('deny_cloud_act'),
  regions: shared('regions'),
  max_retention_days: shared('max_retention_days'),
  require_in_region: shared('require_in_region'),
  require_eu_owned: shared('require_eu_owned'),
  certifications: shared('certifications'),
  quantizations: shared('quantizations'),
});
