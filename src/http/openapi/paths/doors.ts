/** Describes the doors beside chat completions: `/v1/messages` and `/v1/responses`. */
import { modelIdSchema } from '../../../catalogue/model-id.js';
import { block, item, message, messageTool } from '../door-bodies.js';
import { routerHeaders } from '../headers.js';
import { json, type Resource } from '../operations.js';
import { array, integer, object, open, orNull, ref, text, textOrNull } from '../schema.js';
import type { Example, Schema } from '../types.js';

const model = { ...modelIdSchema, description: 'A pin, `auto/…` or `alias/…`.' };
const fallback = { type: ['object', 'null'], description: 'As for chat completions.', ...open };

const messageFields = {
  model,
  messages: array(message, 'The conversation.', { minItems: 1 }),
  system: {
    anyOf: [{ type: 'string' }, array(block, 'Text blocks.'), { type: 'null' }],
    description: 'The system prompt: text, or text blocks.',
  },
  fallback,
};

const serviceTier = textOrNull('A tier other than an ordinary one needs a price on the route.');
const messageSettings = {
  tools: orNull(array(messageTool, 'What the model may call.')),
  stop_sequences: orNull(array({ type: 'string' }, 'Texts that end the answer.')),
  service_tier: serviceTier,
};
const responseSettings = {
  tools: orNull(array(block, 'What the model may call.')),
  include: orNull(array({ type: 'string' }, 'What else the answer shall hold.')),
  service_tier: serviceTier,
};

const messagesError = object(
  {
    type: { const: 'error' },
    error: object(
      {
        type: text('By status.'),
        message: text('For people.'),
        code: text('As at every door.'),
        param: text('The field.'),
      },
      { optional: ['code', 'param'], ...open },
    ),
    request_id: text('The request’s id.'),
  },
  open,
);

const answer = (type: 'message' | 'response', more: Record<string, Schema>): Schema =>
  object(
    {
      id: text('The generation’s id; of a native pass, the provider’s.'),
      ...more,
      model: text('The four-segment id of the route that served.'),
      usage: { description: `As the API writes it, with \`cost\` and \`cost_details\`.`, ...open },
      router_metadata: ref('RouterMetadata'),
    },
    { description: `A ${type}.`, ...open },
  );

const stream = (events: string): Schema => ({
  type: 'string',
  description: events,
  contentMediaType: 'text/event-stream',
});

const hello = [{ role: 'user', content: 'Hello' }];
const messageExamples: Record<string, Example> = {
  pin: { summary: 'A pin', value: { model: 'sandbox/lodestone/echo', max_tokens: 64, messages: hello } },
};
const countExamples: Record<string, Example> = {
  count: { summary: 'A prompt', value: { model: 'sandbox/lodestone/echo', messages: hello } },
};
const responseExamples: Record<string, Example> = {
  text: { summary: 'Text', value: { model: 'sandbox/lodestone/echo', input: 'Hello' } },
};

const compactExamples: Record<string, Example> = {
  items: {
    summary: 'A conversation',
    value: { model: 'openai/openai/gpt-5.6-sol', input: [{ role: 'user', content: 'We meet on Tuesday.' }] },
  },
};

export const messages: Resource = {
  tag: { name: 'Messages', description: 'Anthropic’s Messages API, on every route.' },
  schemas: {
    MessageRequest: object(
      {
        ...messageFields,
        ...messageSettings,
        max_tokens: integer('The most tokens that the answer may have.', { minimum: 1 }),
      },
      { optional: ['system', 'fallback', ...Object.keys(messageSettings)], ...open },
    ),
    MessageCountRequest: object(
      { ...messageFields, ...messageSettings },
      { optional: ['system', 'fallback', ...Object.keys(messageSettings)], ...open },
    ),
    Message: answer('message', {
      type: { const: 'message' },
      role: { const: 'assistant' },
      content: array(block, 'The blocks of the answer.'),
      stop_reason: textOrNull('Why it ended.'),
    }),
    MessagesError: messagesError,
  },
  operations: {
    'POST /v1/messages': {
      id: 'createMessage',
      summary: 'Create a message',
      description:
        'Any client of Anthropic’s API works: set its base address to this service and its key to one of yours, as `x-api-key` or `Authorization: Bearer`. A provider that speaks the API gets the request as it is; for any other it is translated.',
      body: { schema: ref('MessageRequest'), examples: messageExamples },
      errors: ref('MessagesError') as unknown as Schema,
      answers: {
        '200': {
          description: 'The answer, whole or streamed.',
          headers: routerHeaders,
          content: {
            'application/json': { schema: ref('Message') },
            'text/event-stream': { schema: stream('The events of the Messages API.') },
          },
        },
      },
    },
    'POST /v1/messages/count_tokens': {
      id: 'countMessageTokens',
      summary: 'Count the tokens of a message',
      description: 'Free. A provider that speaks the API is asked; any other prompt is counted here.',
      body: { schema: ref('MessageCountRequest'), examples: countExamples },
      errors: ref('MessagesError') as unknown as Schema,
      answers: {
        '200': json('The count.', object({ input_tokens: integer('Tokens of the prompt.') }, open)),
      },
    },
  },
};

export const responses: Resource = {
  tag: { name: 'Responses', description: 'OpenAI’s Responses API without its memory, on every route.' },
  schemas: {
    ResponseRequest: object(
      {
        model,
        input: {
          anyOf: [{ type: 'string' }, array(item, 'Items.', { minItems: 1 })],
          description: 'Text, or items. A request with a `prompt` may leave it out.',
        },
        prompt: object(
          { id: text('Its id.') },
          {
            description: 'A prompt that the provider keeps. Only for providers whose `stored_objects` are allowed.',
            ...open,
          },
        ),
        instructions: textOrNull('The system prompt.'),
        ...responseSettings,
        fallback,
      },
      {
        optional: ['input', 'prompt', 'instructions', 'fallback', ...Object.keys(responseSettings)],
        anyOf: [{ required: ['input'] }, { required: ['prompt'] }],
        ...open,
      },
    ),
    Response: answer('response', {
      object: { const: 'response' },
      status: text('`completed` or `incomplete`.'),
      output: array(block, 'The items of the answer.'),
    }),
    Compaction: object(
      {
        id: text('The provider’s id.'),
        object: { const: 'response.compaction' },
        output: array(block, 'The items to begin the next `input` with, as they are.'),
        usage: { description: 'As the API writes it, with `cost` and `cost_details`.', ...open },
        router_metadata: ref('RouterMetadata'),
      },
      { description: 'A compacted conversation.', ...open },
    ),
  },
  operations: {
    'POST /v1/responses': {
      id: 'createResponse',
      summary: 'Create a response',
      description:
        'Lodestone stores no text: `store: true`, `previous_response_id`, `conversation`, `background: true` and `item_reference` items are refused, and `store` is always false. `GET` with `Upgrade: websocket` opens a connection for many responses: each message is `{"type": "response.create", …}` with the fields of this body, its events come as one message each, and `previous_response_id` may name the last response of the connection.',
      body: { schema: ref('ResponseRequest'), examples: responseExamples },
      answers: {
        '200': {
          description: 'The answer, whole or streamed.',
          headers: routerHeaders,
          content: {
            'application/json': { schema: ref('Response') },
            'text/event-stream': { schema: stream('The events of the Responses API.') },
          },
        },
      },
    },
    'POST /v1/responses/compact': {
      id: 'compactResponse',
      summary: 'Compact a conversation',
      description:
        'Only providers that offer it themselves are asked; on any other route it is a 400. The answer is the beginning of the next `input`, and nothing is stored.',
      body: { schema: ref('ResponseRequest'), examples: compactExamples },
      answers: { '200': json('The compacted conversation.', ref('Compaction') as unknown as Schema, routerHeaders) },
    },
  },
};
