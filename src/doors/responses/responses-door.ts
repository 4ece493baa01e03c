/** OpenAI's Responses API without its memory: Lodestone stores no text, so every request holds its whole conversation. */
import { envelopeOf } from '../../errors/envelope.js';
import { responsesWords } from '../default-words.js';
import type { Door } from '../door.js';
import { responsesFields } from './fields.js';
import { NativeResponseStream } from './native-stream.js';
import { readResponsesRequest } from './read-request.js';
import { writeAnswer } from './write-answer.js';
import { ResponseStreamWriter } from './write-stream.js';

export const responsesDoor: Door = {
  name: 'responses',
  path: '/v1/responses',
  kind: 'chat',
  fields: responsesFields,
  defaultWords: responsesWords,
  readRequest: readResponsesRequest,
  writeAnswer,
  openStream: ({ native }, isNative) => (isNative ? new NativeResponseStream() : new ResponseStreamWriter(native!)),
  writeError: (error) => JSON.stringify(envelopeOf(error)),
};
