/** The chat completions API: the format that the pipeline itself speaks. */
import { envelopeOf } from '../../errors/envelope.js';
import { chatWords } from '../default-words.js';
import type { Door } from '../door.js';
import { chatFields } from './fields.js';
import { readRequest } from './read-request.js';
import { chatStream, writeAnswer } from './write-answer.js';

export const chatDoor: Door = {
  name: 'chat',
  path: '/v1/chat/completions',
  kind: 'chat',
  fields: chatFields,
  defaultWords: chatWords,
  readRequest,
  writeAnswer,
  openStream: () => chatStream,
  writeError: (error) => JSON.stringify(envelopeOf(error)),
};
