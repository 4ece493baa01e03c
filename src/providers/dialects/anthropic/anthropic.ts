/** Anthropic's Messages API, which Anthropic, Azure AI Foundry and others offer. */
import type { Dialect } from '../dialect.js';
import { readAnswer } from './answer.js';
import { omittedByMessages } from './omitted.js';
import { messagesBody, messagesPath, unknownTier } from './request.js';
import { MessageStream } from './stream.js';

export const anthropic: Dialect = {
  callOf: (request, target) => ({ path: messagesPath, body: messagesBody(request, target) }),
  readAnswer,
  createStreamTranslator: () => new MessageStream(),
  inapplicableParameter({ needs, responseFormat }) {
    // The API has output by JSON schema, but no free JSON mode, logprobs, logit bias or second choice.
    const none = needs.find((param) => param !== 'response_format');
    return none ?? (responseFormat === null || responseFormat === 'json_schema' ? null : 'response_format');
  },
  omits: (request, target) => omittedByMessages(request, target) | unknownTier(request),
  speaks: 'messages',
  words: new Set([
    'cache_control',
    'reasoning_effort',
    'thinking',
    'user',
    'safety_identifier',
    'top_k',
    'stops',
    'service_tier',
    'file',
  ]),
  extraHeaders: ['anthropic-version', '2023-06-01'],
  keyHeader: (key) => ['x-api-key', key],
  needsBaseUrl: true,
  canSign: false,
  defaultAuth: () => 'key',
  protocolNames:
    'stop_sequences source media_type base64 image document tool_use tool_result input input_schema tool_use_id is_error thinking budget_tokens signature enabled disabled adaptive cache_control ephemeral any output_config anthropic_version user_id',
};
