/** Describes `POST /v1/chat/completions`: examples, and the schemas of answers. */
import { credentialName } from '../credential-name.js';
import { routerHeaders } from '../headers.js';
import type { Resource } from '../operations.js';
import {
  array,
  boolean,
  idPattern,
  integer,
  number,
  numberOrNull,
  object,
  oneOfValues,
  open,
  orNull,
  ref,
  text,
  textOrNull,
} from '../schema.js';
import type { Example, Schema } from '../types.js';
import { usage } from '../usage.js';
import { chatRequestSchemas } from './chat-request.js';

const messages = [{ role: 'user', content: 'Hello' }];

export const chatExamples: Record<string, Example> = {
  pin: { summary: 'A pin: this route or none', value: { model: 'sandbox/lodestone/echo', messages } },
  auto: {
    summary: 'Lodestone chooses a route, and tries the next one where it fails',
    value: { model: 'auto/lodestone/failover', messages },
  },
  parameters: {
    summary: 'With parameters',
    value: {
      model: 'sandbox/lodestone/regions/defra',
      messages: [{ role: 'system', content: 'Be brief.' }, ...messages],
      temperature: 0.2,
      max_tokens: 64,
      stop: ['END'],
      response_format: { type: 'json_object' },
    },
  },
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

const answerExamples: Record<string, Example> = {
  answer: {
    summary: 'The first route failed, the second served',
    value: {
      ...exampleIdentity,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: exampleUsage,
      router_metadata: metadata,
    },
  },
};

const chunk = (delta: object, finish_reason: string | null, more: object = {}) =>
  `data: ${JSON.stringify({
    ...exampleIdentity,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  })}\n\n`;

const streamExamples: Record<string, Example> = {
  stream: {
    summary: 'Two frames and the end',
    value:
      chunk({ role: 'assistant', content: 'Hello' }, null, { router_metadata: metadata }) +
      chunk({}, 'stop', { router_metadata: { ...metadata, stream_end: 'complete' } }) +
      'data: [DONE]\n\n',
  },
};

/** Fields that a provider adds are passed on, so the schemas of answers are open. */
const part = (what: string) => text(`${what}, US dollars, an exact decimal.`, { pattern: '^\\d+(\\.\\d{1,12})?$' });

const costDetails = object(
  {
    input: part('The prompt'),
    output: part('The completion'),
    cache_read: part('What came from a cache'),
    cache_write: part('What was written to a cache'),
    reasoning: part('Reasoning'),
    audio: part('Audio'),
    image: part('Images'),
    tools: part('Calls of tools that ran at the provider'),
    request: part('The request itself'),
    tier: text('The tier whose prices applied, where it was not the ordinary one.'),
    upstream_inference_cost: number('The cost once more, for clients of OpenRouter. Not in records.'),
    upstream_inference_prompt_cost: number(
      'Of the cost, that of the prompt, for clients of OpenRouter. Not in records.',
    ),
    upstream_inference_completions_cost: number(
      'Of the cost, that of the completion, for clients of OpenRouter. Not in records.',
    ),
  },
  {
    optional: 'all',
    description: 'How the cost is made up: only the classes that were used, as texts. Their sum is the cost.',
  },
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
    cloud_act: orNull(boolean('Whether the provider falls under the US CLOUD Act.')),
    credential: credentialName('The credential that the provider was called with.'),
    request_policy: boolean('The request had a `provider` object with at least one field.'),
    sticky: boolean('The route that served the conversation before was tried first, and served again.'),
    name: textOrNull('The operator’s name that was asked for; null where it was none.'),
    defaults: array({ type: 'string' }, 'Fields that the name has added to the request.'),
    retires: object(
      {
        date: text('From this day on, 00:00 UTC, the route is not served.', { format: 'date' }),
        replaced_by: textOrNull('The model to change to, `creator/model`; null where none is known.'),
      },
      { description: 'Only where the route that served retires within 60 days.' },
    ),
    receipt: text(
      'The receipt in the log: the generation’s id, or the hash of its leaf where `proof.hash_bodies` is off. Absent without a log.',
    ),
    generation_id: text('The generation’s id, at doors whose answers have an id of the provider.', idPattern('gen')),
    omitted: array({ type: 'string' }, 'Fields that the route does not support and that were left out.'),
    stream_end: oneOfValues(['complete', 'stalled', 'cut'], 'Only on the last JSON frame of a stream: how it ended.'),
  },
  { optional: ['retires', 'receipt', 'generation_id', 'omitted', 'stream_end'] },
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

const chatAnswerSchemas = {
  Usage: usage,
  CostDetails: costDetails,
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
      usage: ref('Usage'),
      router_metadata: ref('RouterMetadata'),
    },
    { optional: ['usage', 'router_metadata'], ...open },
  ),
};

export const chat: Resource = {
  tag: { name: 'Chat', description: 'Chat completions in OpenAI’s shape, routed, with a receipt and a cost.' },
  schemas: { ...chatRequestSchemas, ...chatAnswerSchemas },
  operations: {
    'POST /v1/chat/completions': {
      id: 'createChatCompletion',
      summary: 'Create a chat completion',
      description:
        'Any OpenAI client works: set its base address to this service’s `/v1` and its key to one of yours. Fields that are not listed are passed to the provider as they are.',
      body: { schema: ref('ChatRequest'), examples: chatExamples },
      answers: {
        '200': {
          description: 'The answer, whole or streamed.',
          headers: routerHeaders,
          content: {
            'application/json': { schema: ref('ChatCompletion'), examples: answerExamples },
            'text/event-stream': {
              schema: {
                type: 'string',
                description: stream,
                contentMediaType: 'text/event-stream',
                contentSchema: { anyOf: [ref('ChatCompletionChunk'), ref('ErrorCostUnresolvable')] },
              },
              examples: streamExamples,
            },
          },
        },
      },
    },
  },
};
