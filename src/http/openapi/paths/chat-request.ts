/** Describes a chat request. A field that is not listed is passed to the provider as it is. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { messageRoles, stopSequencesMax } from '../../../doors/chat/messages.js';
import { preferenceSchemas } from '../../../policy/request-schema.js';
import type { refusableParameters } from '../../../wire/chat-request.js';
import { fallbackModelsMax } from '../../../wire/chat-request.js';
import { component } from '../resource.js';
import * as s from '../schema.js';
import type { Schema } from '../types.js';

/** `null` is the same as leaving the field out. */
function nullable(type: string, description: string, more: Schema = {}): Schema {
  return { type: [type, 'null'], description, ...more };
}

const refusable = (name: (typeof refusableParameters)[number], type: string, description: string, more?: Schema) => ({
  [name]: nullable(type, `${description} Refused with a 400 where the route cannot apply it.`, more),
});

/** What is inside a message is the provider's to judge, so these fields have a description and no type. */
const otherFields = s.optionals({
  content: {
    type: ['string', 'array', 'null'],
    description: 'Text, or an array of parts in OpenAI’s form.',
  },
  tool_calls: { description: 'An array: the calls that an `assistant` message made, in OpenAI’s form.' },
  name: { description: 'A name for the speaker, as text.' },
});

const toolRole = 'tool' satisfies (typeof messageRoles)[number];

const chatMessage = component('ChatMessage', {
  anyOf: [
    s.openObject({
      role: s.text('Who speaks.', { enum: messageRoles.filter((role) => role !== toolRole) }),
      ...otherFields,
    }),
    s.openObject({
      role: { const: toolRole, description: 'The result of a call.' },
      tool_call_id: s.text('The call that the message answers.', { minLength: 1 }),
      ...otherFields,
    }),
  ],
});

/** What the ids of a request may be. */
interface Ids {
  model: Schema;
  /** Of `fallback.models`. */
  entry: Schema;
}

/** `additionalProperties: false`: a mistyped wish is refused and not ignored. */
export const requestPreferencesSchema: Schema = {
  type: ['object', 'null'],
  description:
    'Wishes of this request, in OpenRouter’s form. They only narrow what the routing policy leaves, and hold for an explicit id too. Never sent to a provider.',
  properties: preferenceSchemas,
  additionalProperties: false,
};

const fieldsOf = (ids: Ids) => ({
  model: {
    ...ids.model,
    description:
      'A model id: `{provider}/{creator}/{model}[/{locode}]` is a pin, `auto/{creator}/{model}` lets Lodestone choose the route, `alias/{name}` is a name of the account.',
    examples: ['sandbox/lodestone/echo', 'auto/lodestone/failover', 'alias/fast'],
  },
  messages: s.array(chatMessage, 'The conversation, at least one message.', { minItems: 1 }),
  stream: nullable('boolean', 'Answer as a stream of server-sent events.'),
  stream_options: nullable('object', 'Options of a stream.', {
    properties: {
      include_usage: nullable('boolean', 'Adds a frame with the usage and its cost.'),
    },
    ...s.open,
  }),
  temperature: nullable('number', 'Sampling temperature.', { minimum: 0, maximum: 2 }),
  top_p: nullable('number', 'Nucleus sampling.', { minimum: 0, maximum: 1 }),
  frequency_penalty: nullable('number', 'Penalty for frequent tokens.', { minimum: -2, maximum: 2 }),
  presence_penalty: nullable('number', 'Penalty for tokens that were there before.', { minimum: -2, maximum: 2 }),
  max_tokens: nullable('integer', 'The most tokens to generate; providers clamp it to the model’s.', { minimum: 1 }),
  max_completion_tokens: nullable('integer', 'The newer name of `max_tokens`.', { minimum: 1 }),
  stop: {
    type: ['array', 'string', 'null'],
    items: { type: 'string' },
    maxItems: stopSequencesMax,
    description: `Up to ${stopSequencesMax} sequences that end the answer, or one as text.`,
  },
  ...refusable('n', 'integer', 'How many answers to generate; more than 1 needs the route’s capability.', {
    minimum: 1,
  }),
  ...refusable('response_format', 'object', 'The form of the answer, such as `{"type": "json_object"}`.', s.open),
  ...refusable('logprobs', 'boolean', 'Whether to return log probabilities.'),
  ...refusable('logit_bias', 'object', 'Biases by token.', s.open),
  tools: { description: 'An array of tool definitions in OpenAI’s form; the provider judges them.' },
  tool_choice: { description: 'Which tool to call, in OpenAI’s form.' },
  provider: requestPreferencesSchema,
  fallback: nullable('object', 'The chain of this request, in place of the account’s saved one.', {
    properties: {
      models: nullable('array', 'Ids to try, in order, when `model` has failed; `[]` switches the chain off.', {
        items: ids.entry,
        maxItems: fallbackModelsMax,
      }),
    },
    ...s.open,
  }),
});

const requestOf = (ids: Ids): Schema => {
  const { model, messages, ...others } = fieldsOf(ids);
  return s.openObject({ model, messages, ...s.optionals(others) });
};

export const chatRequest = component('ChatRequest', requestOf({ model: modelIdSchema, entry: modelIdSchema }));
/** What the chat says against an id is part of the answer to a dry run, which takes any text. */
export const explainRequest = component(
  'ExplainRequest',
  requestOf({ model: { type: 'string', minLength: 1 }, entry: { type: 'string' } }),
);
