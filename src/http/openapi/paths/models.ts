/** `GET /v1/models` and `GET /v1/models/{id}`. */
import { json, keyOperation } from '../operations.js';
import { array, integer, listOf, numberOrNull, object, ref, text, textOrNull } from '../schema.js';
import type { Resource } from '../types.js';

const tag = { name: 'Models', description: 'What can be served right now, and only that.' };

const perToken = (what: string) =>
  textOrNull(`${what}, US dollars a token, an exact decimal; null where routes differ or nothing is published.`, {
    pattern: '^\\d+(\\.\\d{1,12})?$',
  });

const model = object({
  id: text('The id to send as `model`.'),
  object: { const: 'model' },
  created: integer('When the catalogue was loaded, Unix time.'),
  owned_by: text('The creator.'),
  name: text('The model’s name, for people.'),
  context_length: { type: ['integer', 'null'], description: 'Tokens.' },
  max_output_tokens: { type: ['integer', 'null'], description: 'Tokens.' },
  pricing: object({
    prompt: perToken('Input'),
    completion: perToken('Output'),
    input_cache_read: perToken('Cached input'),
  }),
  provider: text('The provider, or `auto`.'),
  locode: textOrNull('The region, or `global`; null for `auto`.'),
  country: textOrNull('ISO 3166-1.'),
  carbon: numberOrNull('gCO2e/kWh.'),
  cloud_act: { type: ['boolean', 'null'], description: 'Whether the provider falls under the US CLOUD Act.' },
  supported_parameters: array({ type: 'string' }, 'Parameters of a chat request that are applied.'),
});

export const models: Resource = {
  tag,
  schemas: { Model: model },
  paths: {
    '/v1/models': {
      get: keyOperation({
        id: 'listModels',
        tag: tag.name,
        summary: 'List models',
        description:
          'Every servable route as a four-segment id, one `auto/` id for each model, and the account’s aliases. Servable means: configured, priced, not held, not disabled, permitted in your territory.',
        answers: { '200': json('The list.', listOf(ref('Model'))) },
        errors: ['service_unavailable'],
      }),
    },
    '/v1/models/{id}': {
      get: keyOperation({
        id: 'getModel',
        tag: tag.name,
        summary: 'Get a model',
        parameters: [
          {
            name: 'id',
            in: 'path',
            required: true,
            description: 'Any id of the list, with its slashes as they are.',
            schema: { type: 'string' },
            example: 'sandbox/lodestone/echo',
          },
        ],
        answers: { '200': json('The model.', ref('Model')) },
        errors: [
          'model_not_offered',
          'global_not_served',
          'region_not_served',
          'alias_not_found',
          'service_unavailable',
        ],
      }),
    },
  },
};
