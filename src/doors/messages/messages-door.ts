/** Anthropic's Messages API. */
import { messagesWords } from '../default-words.js';
import type { Door } from '../door.js';
import { messagesFields } from './fields.js';
import { messagesError, NativeMessageStream } from './native-stream.js';
import { readCountRequest, readMessagesRequest } from './read-request.js';
import { writeAnswer } from './write-answer.js';
import { MessageStreamWriter } from './write-stream.js';

export const messagesDoor: Door = {
  name: 'messages',
  path: '/v1/messages',
  kind: 'chat',
  keyHeader: 'x-api-key',
  fields: messagesFields,
  defaultWords: messagesWords,
  readRequest: readMessagesRequest,
  writeAnswer,
  openStream: (_, isNative) => (isNative ? new NativeMessageStream() : new MessageStreamWriter()),
  writeError: messagesError,
};

const { defaultWords: _, ...withoutDefaults } = messagesDoor;

/** Counts the tokens of a prompt. The provider's count takes few fields, so names add none. */
export const countTokensDoor: Door = {
  ...withoutDefaults,
  path: '/v1/messages/count_tokens',
  countsOnly: true,
  readRequest: readCountRequest,
};
