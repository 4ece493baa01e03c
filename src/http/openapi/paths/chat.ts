/** Describes `POST /v1/chat/completions`: examples, and the schemas of answers. */
import { routerHeaders } from '../headers.js';
import { routerMetadata, usage } from '../receipt.js';
import { body, component, type Examples, operation, resource } from '../resource.js';
import * as s from '../schema.js';
import { chatRequest } from './chat-request.js';

const messages = [{ role: 'user', content: 'Hello' }];

export const chatExamples: Examples = {
  pin: ['A pin: this route or none', { model: 'sandbox/lodestone/echo', messages }],
  auto: [
    'Lodestone chooses a route, and tries the next one where it fails',
    { model: 'auto/lodestone/failover', messages },
  ],
  parameters: [
    'With parameters',
    {
      model: 'sandbox/lodestone/regions/defra',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      temperature: 0.2,
      max_tokens: 64,
      stop: ['END'],
      response_format: { type: 'json_object' },
    },
  ],
};

const stream = `A stream (\`"stream": true\`): frames \`data: {…}\\n\\n\`, each a \`ChatCompletionChunk\`, and \`data: [DONE]\` at the end.

\`router_metadata\` is on the first frame and on the last JSON frame, there with \`stream_end\`. A stream that stalls or is cut still ends
with \`data: [DONE]\`, without an invented \`finish_reason\`. Where the cost cannot be resolved after the start, a frame with the error
\`cost_unresolvable\` comes last, and no \`[DONE]\`.`;

const exampleIdentity = {
  id: 'gen-01k9zw3v8fq2t6hm4x7n5r1bdc',
  created: 1_762_000_000,
  model: 'sandbox-spare/lodestone/failover/global',
};

const exampleUsage = {
  prompt_tokens: 8,
  completion_tokens: 1,
  total_tokens: 9,
  cost: 0,
  cost_details: {
    input: '0',
    output: '0',
    upstream_inference_cost: 0,
    upstream_inference_prompt_cost: 0,
    upstream_inference_completions_cost: 0,
  },
};

const metadata = {
  requested_model: 'auto/lodestone/failover',
  served_model: 'sandbox-spare/lodestone/failover/global',
  provider: 'sandbox-spare',
  creator: 'lodestone',
  model: 'failover',
  locode: 'global',
  country: null,
  providers_attempted: ['sandbox', 'sandbox-spare'],
  fallback_occurred: true,
  breaker_skipped: [],
  alias: null,
  carbon: 500,
  cloud_act: false,
  credential: { id: null, owner: 'operator' },
  ...{ request_policy: false, sticky: false },
  ...{ name: null, defaults: [] },
  receipt: 'gen-01k9zw3v8fq2t6hm4x7n5r1bdc',
};

const answerExamples: Examples = {
  answer: [
    'The first route failed, the second served',
    {
      ...exampleIdentity,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: exampleUsage,
      router_metadata: metadata,
    },
  ],
};

const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
  `data: ${JSON.stringify({
    ...exampleIdentity,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  })}\n\n`;

const streamExamples: Examples = {
  stream: [
    'Two frames and the end',
    chunk({ role: 'assistant', content: 'Hello' }, null, { router_metadata: metadata }) +
      chunk({}, 'stop', { router_metadata: { ...metadata, stream_end: 'complete' } }) +
      'data: [DONE]\n\n',
  ],
};

const identity = {
  id: s.text('The generation’s id.', s.idPattern('gen')),
  created: s.integer('Unix time.'),
  model: s.text('The four-segment id of the route that served.'),
};

const choice = s.openObject({
  index: s.integer('From 0.'),
  message: s.openObject({ role: { const: 'assistant' }, content: s.optional(s.textOrNull('The answer.')) }),
  finish_reason: s.optional(s.textOrNull('Why the answer ended: `stop`, `length`, `tool_calls` …')),
});

const chunkChoice = s.openObject({
  index: s.optional(s.integer('From 0.')),
  delta: s.optional({ type: ['object', 'null'], description: 'What is new.', ...s.open }),
  finish_reason: s.optional(s.textOrNull('Why the answer ended; only on the last frame of the choice.')),
});

const completion = component(
  'ChatCompletion',
  s.openObject({
    ...identity,
    object: { const: 'chat.completion' },
    choices: s.array(choice, 'The answers.'),
    usage,
    router_metadata: routerMetadata,
  }),
);
const completionChunk = component(
  'ChatCompletionChunk',
  s.openObject({
    ...identity,
    object: { const: 'chat.completion.chunk' },
    choices: s.array(chunkChoice, 'What is new; empty on the usage frame and on the frame that tells of a broken end.'),
    usage: s.optional(usage),
    router_metadata: s.optional(routerMetadata),
  }),
);

const about = 'Chat completions in OpenAI’s shape, routed, with a receipt and a cost.';
export const chat = resource('Chat', about, 'key', {
  'POST /v1/chat/completions': operation('createChatCompletion', 'Create a chat completion', {
    description:
      'Any OpenAI client works: set its base address to this service’s `/v1` and its key to one of yours. Fields that are not listed are passed to the provider as they are.',
    body: body(chatRequest, chatExamples),
    answers: {
      description: 'The answer, whole or streamed.',
      headers: routerHeaders,
      content: {
        'application/json': { schema: completion, examples: answerExamples },
        'text/event-stream': {
          schema: {
            type: 'string',
            description: stream,
            contentMediaType: 'text/event-stream',
            contentSchema: { anyOf: [completionChunk, s.ref('ErrorCostUnresolvable')] },
          },
          examples: streamExamples,
        },
      },
    },
  }),
});
