/** Azure OpenAI: OpenAI's dialect under addresses of its own, with annotations of its content filter in the stream. */
import type { Adapter } from '../adapter.js';
import { requestBody } from '../openai/request.js';
import { chatPathOf } from './path.js';
import { FilteredStream } from './stream.js';

export const azure: Adapter = {
  outgoing: (request, target) => ({ path: chatPathOf(target), body: requestBody(request, target) }),
  answer: null,
  stream: () => new FilteredStream(),
  cannotApply: () => null,
};
