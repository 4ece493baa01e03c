/** Google's generateContent, as AI Studio and Vertex AI offer it under different addresses. */
import type { Adapter } from '../dialect.js';
import { readAnswer } from './answer.js';
import { contentPath, generateBody } from './request.js';
import { ContentStream } from './stream.js';

export const gemini: Adapter = {
  outgoing: (request, target) => ({
    path: contentPath(target.upstreamModel, request.stream),
    body: generateBody(request, target),
  }),
  answer: readAnswer,
  stream: () => new ContentStream(),
  cannotApply({ needs, responseFormat }) {
    if (needs.includes('logit_bias')) return 'logit_bias';
    const known = responseFormat === null || responseFormat === 'json_object' || responseFormat === 'json_schema';
    return known ? null : 'response_format';
  },
};
