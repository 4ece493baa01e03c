/** The schema of a chat request (§4.1). Ranges are those of part 8; a field that is not listed is passed to the provider as it is. */

import { messageRoles } from '../../../pipeline/validate/check-messages.js';
import { stopSequencesMax } from '../../../pipeline/validate/check-request.js';
import type { refusableParameters } from '../../../wire/chat-request.js';
import { fallbackModelsMax } from '../../../wire/chat-request.js';
import { array, object, ref, text } from '../schema.js';
import type { Schema } from '../types.js';

const open = { additionalProperties: true };

/** `null` is the same as leaving the field out (contract 4.1). */
function optional(type: string, description: string, more: Schema = {}): Schema {
  return { type: [type, 'null'], description, ...more };
}

const refusable = (name: (typeof refusableParameters)[number], type: string, description: string, more?: Schema) => ({
  [name]: optional(type, `${description} Refused with a 400 where the route cannot apply it.`, more),
});

const message = object(
  {
    role: text('Who speaks.', { enum: [...messageRoles] }),
    content: {
      type: ['string', 'array', 'null'],
      items: { type: 'object', additionalProperties: true },
      description: 'Text, or an array of parts in OpenAI’s form.',
    },
    tool_call_id: text('The call that a `tool` message answers. Required on those.'),
    tool_calls: array({ type: 'object', additionalProperties: true }, 'The calls that an `assistant` message made.'),
    name: text('A name for the speaker.'),
  },
  { optional: ['content', 'tool_call_id', 'tool_calls', 'name'], ...open },
);

const properties: Record<string, Schema> = {
  model: text(
    'A model id: `{provider}/{creator}/{model}[/{locode}]` is a pin, `auto/{creator}/{model}` lets Lodestone choose the route, `alias/{name}` is a name of the account.',
    { examples: ['sandbox/lodestone/echo', 'auto/lodestone/failover', 'alias/fast'] },
  ),
  messages: array(ref('ChatMessage'), 'The conversation, at least one message.', { minItems: 1 }),
  stream: optional('boolean', 'Answer as a stream of server-sent events.'),
  stream_options: optional('object', 'Options of a stream.', {
    properties: {
      include_usage: { type: ['boolean', 'null'], description: 'Add a frame with the usage and its cost.' },
    },
    ...open,
  }),
  temperature: optional('number', 'Sampling temperature.', { minimum: 0, maximum: 2 }),
  top_p: optional('number', 'Nucleus sampling.', { minimum: 0, maximum: 1 }),
  frequency_penalty: optional('number', 'Penalty for frequent tokens.', { minimum: -2, maximum: 2 }),
  presence_penalty: optional('number', 'Penalty for tokens that were there before.', { minimum: -2, maximum: 2 }),
  max_tokens: optional('integer', 'The most tokens to generate; providers clamp it to the model’s.', { minimum: 1 }),
  max_completion_tokens: optional('integer', 'The newer name of `max_tokens`.', { minimum: 1 }),
  stop: {
    type: ['array', 'string', 'null'],
    items: { type: 'string' },
    maxItems: stopSequencesMax,
    description: `Up to ${stopSequencesMax} sequences that end the answer, or one as text.`,
  },
  ...refusable('n', 'integer', 'How many answers to generate; more than 1 needs the route’s capability.', {
    minimum: 1,
  }),
  ...refusable('response_format', 'object', 'The form of the answer, such as `{"type": "json_object"}`.', open),
  ...refusable('logprobs', 'boolean', 'Whether to return log probabilities.'),
  ...refusable('logit_bias', 'object', 'Biases by token.', open),
  tools: optional('array', 'Tool definitions in OpenAI’s form.', { items: { type: 'object', ...open } }),
  tool_choice: { description: 'Which tool to call, in OpenAI’s form.' },
  fallback: optional('object', 'The chain of this request, in place of the account’s saved one.', {
    properties: {
      models: array({ type: 'string' }, 'Ids to try, in order, when `model` has failed; `[]` switches the chain off.', {
        maxItems: fallbackModelsMax,
      }),
    },
    ...open,
  }),
};

export const chatRequestSchemas = {
  ChatMessage: message,
  ChatRequest: object(properties, {
    optional: Object.keys(properties).filter((name) => name !== 'model' && name !== 'messages'),
    ...open,
  }),
};
