/** Amazon Bedrock's Converse and ConverseStream: one API for the models of many makers. */
import { bitsOf } from '../../../wire/partial-fields.js';
import { omittedByClaude } from '../anthropic/omitted.js';
import { bearerHeader, type Dialect } from '../dialect.js';
import { readAnswer } from './answer.js';
import { converseBody, conversePath, unknownTier } from './request.js';
import { ConverseStream } from './stream.js';
import { bedrockEmbedding, bedrockRerank } from './tasks.js';

/** Fields that Converse has no place for. */
const withoutPlace = bitsOf([
  ...['seed', 'frequency_penalty', 'presence_penalty', 'parallel_tool_calls', 'user', 'safety_identifier', 'metadata'],
  ...['metadataUser', 'store', 'prediction', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention'],
  ...['prompt_cache_options', 'highTemperature', 'blankMessages'],
]);

export const bedrock: Dialect = {
  callOf: (request, target) => ({
    path: conversePath(target.upstreamModel, request.stream),
    body: converseBody(request, target),
  }),
  readAnswer,
  createStreamTranslator: () => new ConverseStream(),
  inapplicableParameter({ needs, responseFormat }) {
    // The API has output by JSON schema, but no free JSON mode, logprobs, logit bias or second choice.
    const none = needs.find((param) => param !== 'response_format');
    return none ?? (responseFormat === null || responseFormat === 'json_schema' ? null : 'response_format');
  },
  omits: (request, target) => withoutPlace | omittedByClaude(request, target) | unknownTier(request),
  words: new Set(['cache_control', 'reasoning_effort', 'thinking', 'top_k', 'stops', 'service_tier', 'file']),
  embedding: bedrockEmbedding,
  rerank: bedrockRerank,
  // Streams come in AWS's own framing.
  accept: '*/*',
  keyHeader: bearerHeader,
  needsBaseUrl: true,
  canSign: true,
  defaultAuth: () => 'aws',
  protocolNames:
    'inferenceConfig maxTokens toolSpec inputSchema json toolChoice toolUse toolResult toolUseId status success error bytes additionalModelRequestFields reasoningContent reasoningText cachePoint inputText dimensions query documents top_n api_version',
  unknownModelAdvice: (routeId) =>
    `Ask for access to the model in AWS's console, or correct upstream_model of ${routeId}.`,
};
