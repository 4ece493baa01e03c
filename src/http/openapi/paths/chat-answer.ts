/** The schemas of a chat answer, whole and as frames of a stream. What a provider adds is passed on, so they are open. */
import {
  array,
  boolean,
  idPattern,
  integer,
  number,
  numberOrNull,
  object,
  oneOfValues,
  ref,
  text,
  textOrNull,
} from '../schema.js';
import type { Schema } from '../types.js';

const open = { additionalProperties: true };

const usage = object(
  {
    prompt_tokens: integer('Tokens of the request.'),
    completion_tokens: integer('Tokens of the answer.'),
    total_tokens: integer('Both.'),
    cost: number('What the answer cost, in US dollars; the exact decimal.'),
    prompt_tokens_details: object(
      {
        cached_tokens: integer('Of the prompt, what came from a cache.'),
        cache_write_tokens: integer('Of the prompt, what was written to a cache.'),
      },
      { optional: 'all', type: ['object', 'null'], ...open },
    ),
    completion_tokens_details: object(
      { reasoning_tokens: integer('Of the answer, what was reasoning.') },
      { optional: 'all', type: ['object', 'null'], ...open },
    ),
    extra_iterations: array(
      object({ type: text('What it was, e.g. `compaction`.') }, open),
      'What the provider spent beside the answer and bills: each with the token figures of a `usage`. `cost` includes it.',
    ),
  },
  { optional: ['prompt_tokens_details', 'completion_tokens_details', 'extra_iterations'], ...open },
);

const routerMetadata = object(
  {
    requested_model: text('The id as it was sent.'),
    served_model: text('The four-segment id of the route that served.'),
    provider: text('The provider that served.'),
    creator: text('Who made the model.'),
    model: text('The model’s name.'),
    locode: text('The region under which the route is billed and reported, or `global`.'),
    country: textOrNull('The region’s country, ISO 3166-1.'),
    providers_attempted: array({ type: 'string' }, 'One entry an attempt, in order, the serving one last.', {
      minItems: 1,
    }),
    fallback_occurred: boolean('The route that served was not the first attempted, or is of a fallback chain.'),
    breaker_skipped: array({ type: 'string' }, 'Routes that were left out because their breaker is open.'),
    alias: textOrNull('The alias that was named, without `alias/`.'),
    carbon: numberOrNull('gCO2e/kWh of the route; null where it is not published.'),
    cloud_act: { type: ['boolean', 'null'], description: 'Whether the provider falls under the US CLOUD Act.' },
    stream_end: oneOfValues(['complete', 'stalled', 'cut'], 'Only on the last JSON frame of a stream: how it ended.'),
  },
  { optional: ['stream_end'] },
);

const identity = {
  id: text('The generation’s id.', idPattern('gen')),
  created: integer('Unix time.'),
  model: text('The four-segment id of the route that served.'),
};

const choice = object(
  {
    index: integer('From 0.'),
    message: object(
      { role: { const: 'assistant' }, content: textOrNull('The answer.') },
      { optional: ['content'], ...open },
    ),
    finish_reason: textOrNull('Why the answer ended: `stop`, `length`, `tool_calls` …'),
  },
  { optional: ['finish_reason'], ...open },
);

const chunkChoice: Schema = object(
  {
    index: integer('From 0.'),
    delta: { type: ['object', 'null'], description: 'What is new.', ...open },
    finish_reason: textOrNull('Why the answer ended; only on the last frame of the choice.'),
  },
  { optional: ['index', 'delta', 'finish_reason'], ...open },
);

export const chatAnswerSchemas = {
  Usage: usage,
  RouterMetadata: routerMetadata,
  ChatCompletion: object(
    {
      ...identity,
      object: { const: 'chat.completion' },
      choices: array(choice, 'The answers.'),
      usage: ref('Usage'),
      router_metadata: ref('RouterMetadata'),
    },
    open,
  ),
  ChatCompletionChunk: object(
    {
      ...identity,
      object: { const: 'chat.completion.chunk' },
      choices: array(chunkChoice, 'What is new; empty on the usage frame and on the frame that tells of a broken end.'),
      usage: { anyOf: [ref('Usage'), { type: 'null' }] },
      router_metadata: ref('RouterMetadata'),
    },
    { optional: ['usage', 'router_metadata'], ...open },
  ),
};
