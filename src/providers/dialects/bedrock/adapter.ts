/** Amazon Bedrock's Converse and ConverseStream: one protocol for the models of many makers. */
import type { Adapter } from '../dialect.js';
import { readAnswer } from './answer.js';
import { converseBody, conversePath } from './request.js';
import { ConverseStream } from './stream.js';

export const bedrock: Adapter = {
  outgoing: (request, target) => ({
    path: conversePath(target.upstreamModel, request.stream),
    body: converseBody(request, target),
  }),
  answer: readAnswer,
  stream: () => new ConverseStream(),
  cannotApply({ needs, responseFormat }) {
    // There is a word for answers after a schema, and none for JSON of any kind, logprobs, a bias, or a second choice.
    const none = needs.find((param) => param !== 'response_format');
    return none ?? (responseFormat === null || responseFormat === 'json_schema' ? null : 'response_format');
  },
};
