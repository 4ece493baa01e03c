/** Describes the dry run `POST /v1/routes/explain`. */
import { body, json, operation, record, resource } from '../resource.js';
import * as s from '../schema.js';
import { credentialName } from '../shared.js';
import { chatExamples } from './chat.js';
import { explainRequest } from './chat-request.js';

const verdicts = [
  'eligible',
  'gated',
  'breaker_open',
  'quota_held',
  'unconfigured',
  'unpriced',
  'territory',
  'cannot_apply',
  'credential_failing',
  'credential_held',
];

const score = {
  ...s.orNull(
    s.openObject({
      total: s.number('The weighted sum; the highest is tried first.'),
      price: s.numberOrNull('0 to 1; null where no price is published.'),
      latency: s.number('0 to 1.'),
      failures: s.number('0 to 1.'),
      carbon: s.numberOrNull('0 to 1; null where no figure is published.'),
    }),
  ),
  description: 'Null where a gate removed the route.',
};

const candidate = s.object({
  id: s.text('The route.'),
  entry: s.optional(s.text('The model id, of the request or its chain, that it is a candidate of.')),
  rank: s.integerOrNull('Its place in the walk, from 1; null where a gate removed it.'),
  score,
  verdict: s.oneOfValues(verdicts, '`eligible`, or why it would not be tried.'),
  gate: s.textOrNull('The gate of the routing policy that removed it.'),
  param: s.textOrNull('The parameter that it cannot apply.'),
  credential: s.optional(
    s.objectOf(
      'What it would be called with; absent where the account has no credential for the model.',
      credentialName,
    ),
  ),
  sticky: s.optional(s.boolean('True where it served the last turn of the conversation, and is tried first.')),
});

const counterfactual = s.openObject({
  gate: s.text('The gate to relax.'),
  setting: { description: 'What its setting would have to be.' },
  also: s.array({ type: 'object', additionalProperties: true }, 'Changes that are needed at the same time.'),
  admits: s.integer('How many routes it would leave.'),
  message: s.text('The same as a sentence.'),
});

const explanation = record('RouteExplanation', {
  object: { const: 'route_explanation' },
  requested_model: s.text('The id as it was sent.'),
  name: s.textOrNull('The operator’s name that it is; null where it is none.'),
  defaults: s.texts('Fields that the name adds to the request.'),
  resolved: s.texts('The ids that would be walked, in order: its target, then the chain’s.'),
  candidates: s.array(candidate, 'Every candidate in the order of the walk, then the routes that a gate removed.'),
  would_serve: s.textOrNull('The route that would be tried first.'),
  error: {
    type: ['object', 'null'],
    description: 'The error that chat would answer with.',
    additionalProperties: true,
  },
  counterfactuals: s.optional(
    s.array(counterfactual, 'What change of the policy would admit a route, where it leaves none.'),
  ),
});

const about = 'A dry run of a request, without a call and without a cost.';
export const explain = resource('Explain', about, 'key', {
  'POST /v1/routes/explain': operation('explainRoutes', 'Explain a request', {
    description:
      'Takes the body of a chat request, or of another endpoint that `door` names (`chat`, `messages`, `responses`, `embeddings`, `rerank`). The answer is a 200 whenever the body is a valid request, also where `model` is no id.',
    body: body(explainRequest, chatExamples),
    answers: json('What would happen.', explanation),
  }),
});
