/** Azure OpenAI: OpenAI's dialect under addresses of its own. */
import type { Adapter } from '../dialect.js';
import { requestBody } from '../openai/request.js';
import { chatPathOf } from './path.js';

export const azure: Adapter = {
  outgoing: (request, target) => ({ path: chatPathOf(target), body: requestBody(request, target) }),
  answer: null,
  stream: null,
  cannotApply: () => null,
};
