/** Describes `/v1/fallback`, the account's saved chain. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { fallbackModelsMax } from '../../../wire/chat-request.js';
import { json, keyOperation, noContent } from '../operations.js';
import { array, object, ref } from '../schema.js';
import type { Resource, Schema } from '../types.js';

const tag = {
  name: 'Fallback',
  description: 'The chain that is walked when the requested id has failed with a 503 or 504.',
};

const chainOf = (entry: Schema) =>
  object({
    models: array(entry, `Model ids in any form, at most ${fallbackModelsMax}; \`auto/\` ids are recommended.`, {
      maxItems: fallbackModelsMax,
    }),
  });

export const fallback: Resource = {
  tag,
  schemas: {
    Fallback: object({ object: { const: 'fallback' }, fallback: chainOf({ type: 'string' }) }),
    NewFallback: object({ fallback: chainOf(modelIdSchema) }),
  },
  paths: {
    '/v1/fallback': {
      get: keyOperation({
        id: 'getFallback',
        tag: tag.name,
        summary: 'Get the saved chain',
        answers: { '200': json('The chain; empty where none is saved.', ref('Fallback')) },
      }),
      put: keyOperation({
        id: 'putFallback',
        tag: tag.name,
        summary: 'Save the chain',
        description: 'Every entry must be in the catalogue and served. What is withdrawn later is skipped.',
        body: {
          schema: ref('NewFallback'),
          examples: {
            chain: {
              summary: 'Two entries',
              value: { fallback: { models: ['auto/lodestone/regions', 'sandbox/lodestone/echo'] } },
            },
          },
        },
        answers: { '200': json('The chain.', ref('Fallback')) },
        errors: ['invalid_fallback_model', 'field_type', 'field_invalid', 'service_unavailable'],
      }),
      delete: keyOperation({
        id: 'deleteFallback',
        tag: tag.name,
        summary: 'Delete the chain',
        answers: { '204': noContent },
      }),
    },
  },
};
