/** The chat completions API: the format that the pipeline itself speaks. */
import type { Door } from '../door.js';
import { readRequest } from './read-request.js';
import { chatStream, writeAnswer } from './write-answer.js';

export const chatDoor: Door = {
  path: '/v1/chat/completions',
  readRequest,
  writeAnswer,
  openStream: () => chatStream,
};
