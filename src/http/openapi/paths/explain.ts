/** Describes `POST /v1/routes/explain`, the dry run. */
import { json, keyOperation } from '../operations.js';
import { array, integer, number, numberOrNull, object, oneOfValues, ref, text, textOrNull } from '../schema.js';
import type { Resource } from '../types.js';
import { chatExamples, requestErrors } from './chat.js';

const tag = { name: 'Explain', description: 'What would become of a request, without a call and without a cost.' };

const verdicts = [
  'eligible',
  'gated',
  'breaker_open',
  'quota_held',
  'unconfigured',
  'unpriced',
  'territory',
  'cannot_apply',
];

const score = object(
  {
    total: number('The weighted sum; the highest is tried first.'),
    price: numberOrNull('0 to 1; null where no price is published.'),
    latency: number('0 to 1.'),
    failures: number('0 to 1.'),
    carbon: numberOrNull('0 to 1; null where no figure is published.'),
  },
  { type: ['object', 'null'], description: 'Null where a gate removed the route.', additionalProperties: true },
);

const candidate = object(
  {
    id: text('The route.'),
    entry: text('The model id, of the request or its chain, that it is a candidate of.'),
    rank: { type: ['integer', 'null'], description: 'Its place in the walk, from 1; null where a gate removed it.' },
    score,
    verdict: oneOfValues(verdicts, '`eligible`, or why it would not be tried.'),
    gate: textOrNull('The gate of the routing policy that removed it.'),
    param: textOrNull('The parameter that it cannot apply.'),
  },
  { optional: ['entry'] },
);

const counterfactual = object(
  {
    gate: text('The gate to relax.'),
    setting: { description: 'What its setting would have to be.' },
    also: array({ type: 'object', additionalProperties: true }, 'Changes that are needed at the same time.'),
    admits: integer('How many routes it would leave.'),
    message: text('The same as a sentence.'),
  },
  { additionalProperties: true },
);

export const explain: Resource = {
  tag,
  schemas: {
    RouteExplanation: object(
      {
        object: { const: 'route_explanation' },
        requested_model: text('The id as it was sent.'),
        resolved: array({ type: 'string' }, 'The ids that would be walked, in order: its target, then the chain’s.'),
        candidates: array(candidate, 'Every candidate, in the order of the walk, then what a gate removed.'),
        would_serve: textOrNull('The route that would be tried first.'),
        error: {
          type: ['object', 'null'],
          description: 'The envelope that the chat would have answered with.',
          additionalProperties: true,
        },
        counterfactuals: array(counterfactual, 'What change of the policy would admit a route, where it leaves none.'),
      },
      { optional: ['counterfactuals'] },
    ),
  },
  paths: {
    '/v1/routes/explain': {
      post: keyOperation({
        id: 'explainRoutes',
        tag: tag.name,
        summary: 'Explain a request',
        description:
          'Takes the body of a chat request. The answer is a 200 whenever the body is a valid request, also where `model` is no id.',
        body: { schema: ref('ExplainRequest'), examples: chatExamples },
        answers: { '200': json('What would happen.', ref('RouteExplanation')) },
        errors: requestErrors,
      }),
    },
  },
};
