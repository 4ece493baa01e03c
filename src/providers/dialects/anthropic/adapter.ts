/** Anthropic's Messages API, as its own service, Azure's Foundry and others offer it. */
import type { Adapter } from '../dialect.js';
import { readAnswer } from './answer.js';
import { messagesBody, messagesPath } from './request.js';
import { MessageStream } from './stream.js';

export const anthropic: Adapter = {
  outgoing: (request, target) => ({ path: messagesPath, body: messagesBody(request, target) }),
  answer: readAnswer,
  stream: () => new MessageStream(),
  cannotApply({ needs, responseFormat }) {
    // There is a word for answers after a schema, and none for JSON of any kind, logprobs, a bias, or a second choice.
    const none = needs.find((param) => param !== 'response_format');
    return none ?? (responseFormat === null || responseFormat === 'json_schema' ? null : 'response_format');
  },
};
