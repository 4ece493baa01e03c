/** `POST /v1/chat/completions`. */
import type { Condition } from '../../../errors/error-table.js';
import { routerHeaders } from '../headers.js';
import { keyOperation } from '../operations.js';
import { ref } from '../schema.js';
import type { Example, Resource } from '../types.js';
import { chatAnswerSchemas } from './chat-answer.js';
import { answerExamples, streamExamples } from './chat-examples.js';
import { chatRequestSchemas } from './chat-request.js';

const messages = [{ role: 'user', content: 'Hello' }];

export const chatExamples: Record<string, Example> = {
  pin: { summary: 'A pin: this route or none', value: { model: 'sandbox/lodestone/echo', messages } },
  auto: {
    summary: 'Lodestone chooses, and moves on where a route fails',
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

/** Rows that a request can end in before any route is asked, and that saving or explaining one can meet too. */
export const requestErrors: readonly Condition[] = [
  'messages_missing',
  'model_id_shape',
  'parameter_out_of_range',
  'field_type',
  'role_not_allowed',
  'message_invalid',
];

const routingErrors: readonly Condition[] = [
  'insufficient_credits',
  'invalid_alias_name',
  'invalid_fallback_model',
  'cannot_apply',
  'upstream_rejected',
  'routing_policy_exhausted',
  'model_not_offered',
  'global_not_served',
  'region_not_served',
  'alias_not_found',
  'model_not_found',
  'model_unavailable',
  'provider_error',
  'no_candidate_left',
  'route_unpriced',
  'provider_not_configured',
  'service_unavailable',
  'billing_not_durable',
  'provider_quota_exhausted',
  'provider_timeout',
];

const stream = `A stream (\`"stream": true\`): frames \`data: {…}\\n\\n\`, each a \`ChatCompletionChunk\`, and \`data: [DONE]\` at the end.

\`router_metadata\` rides on the first frame and on the last JSON frame, there with \`stream_end\`. A stream that stalls or is cut still ends
with \`data: [DONE]\`, without an invented \`finish_reason\`. Where the cost cannot be resolved after the start, a frame with the error
\`cost_unresolvable\` comes last, and no \`[DONE]\`.`;

export const chat: Resource = {
  tag: { name: 'Chat', description: 'Chat completions in OpenAI’s shape, routed, with a receipt and a cost.' },
  schemas: { ...chatRequestSchemas, ...chatAnswerSchemas },
  paths: {
    '/v1/chat/completions': {
      post: keyOperation({
        id: 'createChatCompletion',
        tag: 'Chat',
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
        errors: [...requestErrors, ...routingErrors],
      }),
    },
  },
};
