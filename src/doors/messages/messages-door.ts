/** Anthropic's Messages API. */
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
  readRequest: readMessagesRequest,
  writeAnswer,
  openStream: (_, isNative) => (isNative ? new NativeMessageStream() : new MessageStreamWriter()),
  writeError: messagesError,
};

/** Counts the tokens of a prompt. */
export const countTokensDoor: Door = {
  ...messagesDoor,
  path: '/v1/messages/count_tokens',
  countsOnly: true,
  readRequest: readCountRequest,
};
