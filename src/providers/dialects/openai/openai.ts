/** OpenAI's own chat API. Answers and streams need no translation, so their bytes are passed on unchanged. */
import { bearerHeader, type Dialect } from '../dialect.js';
import { chatPath, requestBody } from './request.js';
import { openaiEmbedding, openaiRerank } from './tasks.js';

export const openai: Dialect = {
  callOf: (request, target) => ({ path: chatPath, body: requestBody(request, target) }),
  readAnswer: null,
  createStreamTranslator: null,
  inapplicableParameter: () => null,
  speaks: 'chat',
  words: new Set([
    ...['reasoning_effort', 'verbosity', 'metadata', 'user', 'safety_identifier'],
    ...['prompt_cache_key', 'prompt_cache_retention', 'service_tier', 'file'],
  ]),
  embedding: openaiEmbedding,
  rerank: openaiRerank,
  keyHeader: bearerHeader,
  needsBaseUrl: true,
  canSign: false,
  defaultAuth: () => 'key',
  protocolNames:
    'messages role content name user assistant system developer tool type text image_url url detail input_audio data format file file_id filename tools function functions function_call parameters strict tool_choice auto none tool_calls tool_call_id id arguments index stream stream_options include_usage temperature top_p top_k min_p n stop max_tokens max_completion_tokens presence_penalty frequency_penalty repetition_penalty logit_bias logprobs top_logprobs seed response_format json_object json_schema schema reasoning reasoning_effort reasoning_content effort low medium high minimal metadata store service_tier parallel_tool_calls modalities audio voice prediction safety_identifier prompt_cache_key verbosity refusal input dimensions encoding_format float base64 query documents top_n output_dimension truncation',
};
