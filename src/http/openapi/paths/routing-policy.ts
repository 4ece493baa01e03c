/** `/v1/routing-policy` (§2.9, contract 4.5). */
import { defaultPolicy, preferences } from '../../../policy/policy.js';
import { json, keyOperation, noContent } from '../operations.js';
import { array, boolean, numberOrNull, object, oneOfValues, ref } from '../schema.js';
import type { Resource, Schema } from '../types.js';

const tag = {
  name: 'Routing policy',
  description: 'Gates for `auto/` ids, and what to prefer among the routes that they leave.',
};

const lists = (what: string): Schema =>
  object(
    {
      allow: array({ type: 'string' }, `Only these ${what}; empty restricts nothing.`),
      deny: array({ type: 'string' }, `Never these ${what}.`),
    },
    { optional: 'all' },
  );

/** One property for each field of a policy; the compiler holds the two together. */
const fields: Record<keyof typeof defaultPolicy, Schema> = {
  deny_cloud_act: boolean('Remove routes of providers under the US CLOUD Act, and those of which it is not known.'),
  max_carbon: numberOrNull('gCO2e/kWh. While it is set, routes without a figure are removed too.', { minimum: 0 }),
  max_price: numberOrNull('US dollars per million tokens, held against the dearer of input and output.', {
    minimum: 0,
  }),
  providers: lists('providers'),
  creators: lists('creators'),
  regions: lists('locodes and ISO country codes'),
  prefer: oneOfValues(preferences, 'What counts most in the ranking.'),
};

export const routingPolicy: Resource = {
  tag,
  schemas: {
    RoutingPolicy: object({ object: { const: 'routing_policy' }, ...fields }),
    NewRoutingPolicy: object(
      { object: { const: 'routing_policy' }, ...fields },
      { optional: 'all', description: 'A field that is left out becomes its default.', examples: [defaultPolicy] },
    ),
  },
  paths: {
    '/v1/routing-policy': {
      get: keyOperation({
        id: 'getRoutingPolicy',
        tag: tag.name,
        summary: 'Get the routing policy',
        answers: { '200': json('The policy.', ref('RoutingPolicy')) },
      }),
      put: keyOperation({
        id: 'putRoutingPolicy',
        tag: tag.name,
        summary: 'Replace the routing policy',
        description: 'All of it is replaced. `POST /v1/routes/explain` shows what a policy leaves of a model.',
        body: {
          schema: ref('NewRoutingPolicy'),
          examples: {
            europe: {
              summary: 'In Germany or Sweden, outside the CLOUD Act, clean first',
              value: { deny_cloud_act: true, regions: { allow: ['DE', 'SE'] }, prefer: 'carbon' },
            },
          },
        },
        answers: { '200': json('The policy.', ref('RoutingPolicy')) },
        errors: ['field_type', 'field_invalid', 'parameter_out_of_range'],
      }),
      delete: keyOperation({
        id: 'deleteRoutingPolicy',
        tag: tag.name,
        summary: 'Back to the default policy',
        answers: { '204': noContent },
      }),
    },
  },
};
