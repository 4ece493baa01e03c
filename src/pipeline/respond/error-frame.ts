/** Error frames inside a stream that began as an answer. */
import { decodeLatin1, type Latin1Text } from '../../base/latin1.js';
import { isErrorBody } from '../../providers/classify/error-body.js';
import type { Chunk } from '../../wire/chunk.js';
import { errorOf, type Fields } from '../../wire/message.js';
import type { RelayFault } from '../handover.js';

/** Not every error is under `error`, and some servers write an empty one into every frame. */
export function isErrorFrame(chunk: Chunk): boolean {
  if (errorOf(chunk as Fields) !== undefined) return true;
  return !chunk.choices?.length && isErrorBody(chunk);
}

/** What an error says is read by people: as UTF-8, which the frames themselves are not. */
export function errorFrame(data: Latin1Text): RelayFault {
  return { kind: 'error_frame', error: JSON.parse(decodeLatin1(data)) };
}
