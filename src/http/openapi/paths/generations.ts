/** Describes the usage history. */

import { apiNames } from '../../../catalogue/route.js';
import { skipReasons } from '../../../domain/generation.js';
import { generationsLimit } from '../../api/generations.js';
import { credentialName } from '../credential-name.js';
import { json, type Resource } from '../operations.js';
import {
  array,
  boolean,
  idPattern,
  integer,
  listOf,
  number,
  numberParameter,
  object,
  oneOfValues,
  orNull,
  plainText,
  query,
  ref,
  text,
  textOrNull,
  time,
  usd,
} from '../schema.js';

const tag = {
  name: 'Generations',
  description: 'One record a request: who served, tokens, cost, times. Never the text.',
};

const attempt = object({
  provider: text('The provider.'),
  locode: text('The region.'),
  outcome: text('`served`, or what the failure meant.'),
  status: orNull(integer('The upstream’s HTTP status.')),
  first_byte_ms: orNull(number('From its start to the provider’s first byte.')),
  error: textOrNull('What it said.'),
});

const costLine = object({
  name: text(
    'What was counted, named as the prices of a route: `input`, `cached_input`, `cache_write_1h`, `tools.web_search` and so on. ' +
      '`unpriced_tools` are calls that the provider made by itself and that have no price.',
  ),
  count: integer('How many.'),
  unit: oneOfValues(['token', 'call', 'request'], 'What is counted.'),
  price_usd: usd('The price of one.'),
  cost_usd: usd('Count times price.'),
});

const tokens = integer('Tokens of this class; 0 where it was billed as another one.');
const usage = object({
  prompt_tokens: integer('Tokens of the request.'),
  completion_tokens: integer('Tokens of the answer.'),
  total_tokens: integer('The sum of the two.'),
  prompt_tokens_details: object({
    cached_tokens: tokens,
    cache_write_tokens: tokens,
    cache_write_1h_tokens: tokens,
    audio_tokens: tokens,
    image_tokens: tokens,
  }),
  completion_tokens_details: object({ reasoning_tokens: tokens, audio_tokens: tokens, image_tokens: tokens }),
});

const skippedRoute = object({
  route: text('The route’s id, with four segments.'),
  reason: oneOfValues(skipReasons, 'Why it was not tried; as the verdicts of `POST /v1/routes/explain`.'),
  param: textOrNull('The parameter that the route cannot apply; null for other reasons.'),
});

const generation = object({
  id: text('The `id` of the answer.', idPattern('gen')),
  request_id: text('The `x-request-id` of the response.', idPattern('req')),
  created_at: time('When the request came.'),
  key_name: text('The key’s name.'),
  requested_model: text('The id as it was sent.'),
  served_model: textOrNull('The route that served; null on failures.'),
  provider: textOrNull('The provider that served.'),
  locode: textOrNull('The region that served.'),
  streamed: boolean('A stream was asked for.'),
  status: integer('The HTTP status that was answered.'),
  prompt_tokens: integer('Tokens of the request.'),
  completion_tokens: integer('Tokens of the answer.'),
  cached_tokens: integer('Of the prompt, what came from a cache.'),
  reasoning_tokens: integer('Of the answer, what was reasoning.'),
  cost_usd: usd('What it cost the account; the fee where its own credential has served.'),
  notional_usd: textOrNull('The list price of what an own credential has paid for; null without one.'),
  is_byok: boolean('An own credential of the account or its project has served.'),
  credential: credentialName('The credential that the provider was called with; null where nobody served.', {
    type: ['object', 'null'],
  }),
  latency_ms: number('From the request to the end of the answer.'),
  first_byte_ms: orNull(
    number('From the request’s arrival to the first byte for the caller; null where nothing was delivered.'),
  ),
  providers_attempted: array({ type: 'string' }, 'One entry an attempt, in order.'),
  fallback_occurred: boolean('The route that served was not the first attempted.'),
  finish_reason: textOrNull('Why the answer ended.'),
  stream_end: oneOfValues(
    ['complete', 'stalled', 'cut', 'client_closed', 'pricing_fault', null],
    'How a stream ended.',
  ),
  usage_source: oneOfValues(
    ['provider', 'counted', 'estimated', null],
    'Who counted the tokens: the provider, or Lodestone; or a lower bound, where the process died before it could.',
  ),
  error_code: textOrNull('The error’s code.'),
  attempts: array(attempt, 'Every attempt.'),
  skipped: array(
    skippedRoute,
    'Routes that were not tried, in their order, at most 64. Where another route served, without those that are not set up or have no price. Empty in records of older versions.',
  ),
  cost_details: {
    anyOf: [ref('CostDetails'), { type: 'null' }],
    description: 'As in the `usage` of the answer; null where nothing was billed, and in records of older versions.',
  },
  notional_cost_details: {
    anyOf: [ref('CostDetails'), { type: 'null' }],
    description: 'The list price by class, where an own credential has served; else null.',
  },
  cost_lines: {
    anyOf: [array(costLine, 'The lines of the bill.'), { type: 'null' }],
    description:
      'The lines of the bill, whose sum is `cost_usd`, or `notional_usd` where that is not null; null where nothing was billed, and in records of older versions.',
  },
  door: oneOfValues(apiNames, 'The client API that the request came by.'),
  service_tier: textOrNull('The tier whose price applied; null for the ordinary price.'),
  project: text('The id of the project that paid for it.'),
  holder: textOrNull('The id of the person who held the key; null where it belonged to the project.'),
  end_user: textOrNull('The end user that the request named; null where the account does not keep it.'),
  usage,
  request_policy: {
    type: ['object', 'null'],
    description: 'The `provider` object of the request, without nulls and empty lists.',
    additionalProperties: true,
  },
});

const one = { answers: { '200': json('The record.', object({ data: ref('Generation') })) } };

export const generations: Resource = {
  tag,
  schemas: { Generation: generation },
  operations: {
    'GET /v1/generations': {
      id: 'listGenerations',
      summary: 'List generations',
      description: 'Newest first. `after` takes the last id of a page and gives the next one.',
      parameters: [
        numberParameter(generationsLimit),
        query('after', 'Only records older than this id.'),
        query('key', 'Only requests of the key of this name.'),
        query('end_user', 'Only requests for this end user, where the account keeps them.'),
        query('project', 'Only requests of the project with this id. An inference key sees those of its own project.'),
        query('holder', 'Only requests with keys that this person held.'),
        query('model', 'Only requests for, or served by, this id.'),
        query('request_id', 'Only the request with this `x-request-id`.'),
      ],
      answers: {
        '200': json('A page.', listOf(ref('Generation'), { has_more: boolean('There are older ones.') })),
      },
    },
    'GET /v1/generation/{id}': { id: 'getGeneration', summary: 'Get a generation', ...one },
    'GET /v1/generation': {
      id: 'getGenerationByQuery',
      summary: 'Get a generation (id in the query)',
      parameters: [
        query(
          'id',
          'The `id` of an answer, or the `x-request-id` of its response.',
          { ...plainText, minLength: 1 },
          { required: true },
        ),
      ],
      ...one,
    },
  },
};
