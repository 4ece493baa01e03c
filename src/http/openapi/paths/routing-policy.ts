/** Describes `/v1/routing-policy`. */
import { defaultPolicy, policySchemas, sentPolicySchemas } from '../../../policy/policy.js';
import { json, keyOperation, noContent } from '../operations.js';
import { object, ref } from '../schema.js';
import type { Resource } from '../types.js';

const tag = {
  name: 'Routing policy',
  description: 'Gates for `auto/` ids, and what to prefer among the routes that they leave.',
};

export const routingPolicy: Resource = {
  tag,
  schemas: {
    RoutingPolicy: object({ object: { const: 'routing_policy' }, ...policySchemas }),
    NewRoutingPolicy: object(
      {
        object: { description: 'Taken and ignored, so that the answer of a GET can be sent back.' },
        ...sentPolicySchemas,
      },
      {
        optional: 'all',
        additionalProperties: false,
        description: 'A field that is left out or null becomes its default.',
        examples: [defaultPolicy],
      },
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
