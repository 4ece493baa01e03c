/** OpenAI's own dialect: nothing is translated, so bytes are passed on as they are. */
import type { Adapter } from '../dialect.js';
import { chatPath, requestBody } from './request.js';

export const openai: Adapter = {
  outgoing: (request, target) => ({ path: chatPath, body: requestBody(request, target) }),
  answer: null,
  stream: null,
  cannotApply: () => null,
};
