/** Google's generateContent, which AI Studio and Vertex AI offer under different addresses. */
import { bitsOf, partialBits } from '../../../wire/partial-fields.js';
import type { Dialect } from '../dialect.js';
import { readAnswer } from './answer.js';
import { contentPath, generateBody } from './request.js';
import { ContentStream } from './stream.js';
import { geminiEmbedding } from './tasks.js';
import { thinks } from './thinking.js';
import { googleKeyHeader, isVertex } from './vertex.js';

/** Fields that generateContent has no place for. */
const withoutPlace = bitsOf([
  ...['parallel_tool_calls', 'user', 'safety_identifier', 'metadata', 'metadataUser', 'store', 'service_tier'],
  ...['prediction', 'verbosity', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'cache_control'],
  'emptyMessages',
]);

export const gemini: Dialect = {
  callOf: (request, target) => ({
    path: contentPath(target.upstreamModel, request.stream),
    body: generateBody(request, target),
  }),
  readAnswer,
  createStreamTranslator: () => new ContentStream(),
  inapplicableParameter({ needs, responseFormat }) {
    if (needs.includes('logit_bias')) return 'logit_bias';
    const known = responseFormat === null || responseFormat === 'json_object' || responseFormat === 'json_schema';
    return known ? null : 'response_format';
  },
  omits: (_, { upstreamModel }) => withoutPlace | (thinks(upstreamModel) ? 0 : partialBits.reasoning_effort),
  words: new Set(['reasoning_effort', 'thinking', 'top_k', 'stops', 'file']),
  embedding: geminiEmbedding,
  keyHeader: googleKeyHeader,
  needsBaseUrl: true,
  canSign: false,
  // Vertex AI takes access tokens unless a key is given.
  defaultAuth: (baseUrl) => (isVertex(baseUrl) ? 'google' : 'key'),
  protocolNames:
    'contents parts inlineData fileData fileUri mimeType functionCall functionResponse functionDeclarations parametersJsonSchema generationConfig maxOutputTokens stopSequences candidateCount responseMimeType responseSchema responseJsonSchema responseLogprobs systemInstruction toolConfig functionCallingConfig mode allowedFunctionNames thinkingConfig thinkingBudget thinkingLevel includeThoughts thoughtSignature thought args response result output topP topK presencePenalty frequencyPenalty safetySettings AUTO ANY NONE requests content instances parameters outputDimensionality autoTruncate',
};
