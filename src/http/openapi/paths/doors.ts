/** Describes the doors beside chat completions: `/v1/messages` and `/v1/responses`. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { block, item, message, messageTool } from '../door-bodies.js';
import { routerHeaders } from '../headers.js';
import { routerMetadata } from '../receipt.js';
import { body, component, json, operation, resource } from '../resource.js';
import * as s from '../schema.js';

const model = { ...modelIdSchema, description: 'A pin, `auto/…` or `alias/…`.' };
const fallback = s.optional({ type: ['object', 'null'], description: 'As for chat completions.', ...s.open });
const service_tier = s.textOrNull('A tier other than an ordinary one needs a price on the route.');

const messageFields = {
  model,
  messages: s.array(message, 'The conversation.', { minItems: 1 }),
  ...s.optionals({
    system: s.anyOrNull('The system prompt: text, or text blocks.', { type: 'string' }, s.array(block, 'Text blocks.')),
    tools: s.orNull(s.array(messageTool, 'What the model may call.')),
    stop_sequences: s.textsOrNull('Texts that end the answer.'),
    service_tier,
  }),
  fallback,
};

const messagesError = component(
  'MessagesError',
  s.openObject({
    type: { const: 'error' },
    error: s.openObject({
      type: s.text('By status.'),
      message: s.text('For people.'),
      code: s.optional(s.text('As at every door.')),
      param: s.optional(s.text('The field.')),
    }),
    request_id: s.text('The request’s id.'),
  }),
);

const usage = { description: 'As the API writes it, with `cost` and `cost_details`.', ...s.open };

/** An answer of one of the APIs, whole or as a stream. */
function answerOf(api: string, name: string, description: string, properties: s.Properties) {
  const fields = {
    id: s.text('The generation’s id; of a native pass, the provider’s.'),
    ...properties,
    model: s.text('The four-segment id of the route that served.'),
    usage,
    router_metadata: routerMetadata,
  };
  const events = { type: 'string', description: `The events of the ${api}.`, contentMediaType: 'text/event-stream' };
  return {
    description: 'The answer, whole or streamed.',
    headers: routerHeaders,
    content: {
      'application/json': { schema: component(name, s.object(fields, { description, ...s.open })) },
      'text/event-stream': { schema: events },
    },
  };
}

const hello = [{ role: 'user', content: 'Hello' }];
const max_tokens = s.integer('The most tokens that the answer may have.', { minimum: 1 });

export const messages = resource('Messages', 'Anthropic’s Messages API, on every route.', 'key', {
  'POST /v1/messages': operation('createMessage', 'Create a message', {
    description:
      'Any client of Anthropic’s API works: set its base address to this service and its key to one of yours, as `x-api-key` or `Authorization: Bearer`. A provider that speaks the API gets the request as it is; for any other it is translated.',
    body: body(component('MessageRequest', s.openObject({ ...messageFields, max_tokens })), {
      pin: ['A pin', { model: 'sandbox/lodestone/echo', max_tokens: 64, messages: hello }],
    }),
    errors: messagesError,
    answers: answerOf('Messages API', 'Message', 'A message.', {
      type: { const: 'message' },
      role: { const: 'assistant' },
      content: s.array(block, 'The blocks of the answer.'),
      stop_reason: s.textOrNull('Why it ended.'),
    }),
  }),
  'POST /v1/messages/count_tokens': operation('countMessageTokens', 'Count the tokens of a message', {
    description: 'Free. A provider that speaks the API is asked; any other prompt is counted here.',
    body: body(component('MessageCountRequest', s.openObject(messageFields)), {
      count: ['A prompt', { model: 'sandbox/lodestone/echo', messages: hello }],
    }),
    errors: messagesError,
    answers: json('The count.', s.openObject({ input_tokens: s.integer('Tokens of the prompt.') })),
  }),
});

const responseRequest = component(
  'ResponseRequest',
  s.object(
    {
      model,
      ...s.optionals({
        input: {
          anyOf: [{ type: 'string' }, s.array(item, 'Items.', { minItems: 1 })],
          description: 'Text, or items. A request with a `prompt` may leave it out.',
        },
        prompt: {
          ...s.openObject({ id: s.text('Its id.') }),
          description: 'A prompt that the provider keeps. Only for providers whose `stored_objects` are allowed.',
        },
        instructions: s.textOrNull('The system prompt.'),
        tools: s.orNull(s.array(block, 'What the model may call.')),
        include: s.textsOrNull('What else the answer shall hold.'),
        service_tier,
      }),
      fallback,
    },
    { anyOf: [{ required: ['input'] }, { required: ['prompt'] }], ...s.open },
  ),
);

const compaction = component('Compaction', {
  ...s.openObject({
    id: s.text('The provider’s id.'),
    object: { const: 'response.compaction' },
    output: s.array(block, 'The items to begin the next `input` with, as they are.'),
    usage,
    router_metadata: routerMetadata,
  }),
  description: 'A compacted conversation.',
});

const about = 'OpenAI’s Responses API without its memory, on every route.';
export const responses = resource('Responses', about, 'key', {
  'POST /v1/responses': operation('createResponse', 'Create a response', {
    description:
      'Lodestone stores no text: `store: true`, `previous_response_id`, `conversation`, `background: true` and `item_reference` items are refused, and `store` is always false. `GET` with `Upgrade: websocket` opens a connection for many responses: each message is `{"type": "response.create", …}` with the fields of this body, its events come as one message each, and `previous_response_id` may name the last response of the connection.',
    body: body(responseRequest, { text: ['Text', { model: 'sandbox/lodestone/echo', input: 'Hello' }] }),
    answers: answerOf('Responses API', 'Response', 'A response.', {
      object: { const: 'response' },
      status: s.text('`completed` or `incomplete`.'),
      output: s.array(block, 'The items of the answer.'),
    }),
  }),
  'POST /v1/responses/compact': operation('compactResponse', 'Compact a conversation', {
    description:
      'Only providers that offer it themselves are asked; on any other route it is a 400. The answer is the beginning of the next `input`, and nothing is stored.',
    body: body(responseRequest, {
      items: [
        'A conversation',
        { model: 'openai/openai/gpt-5.6-sol', input: [{ role: 'user', content: 'We meet on Tuesday.' }] },
      ],
    }),
    answers: json('The compacted conversation.', compaction, routerHeaders),
  }),
});
