/** Error frames inside a stream that began as an answer. */
import { saysError } from '../../providers/classify/error-in.js';
import type { Chunk } from '../../wire/chunk.js';
import { readable } from '../../wire/json-text.js';
import { isErrorMember } from '../../wire/message.js';
import type { RelayFault } from '../handover.js';

/** Not every error is under `error`, and some servers write an empty one into every frame. */
export function isErrorFrame(chunk: Chunk): boolean {
  if (isErrorMember(chunk.error)) return true;
  return chunk.choices === undefined && saysError(chunk);
}

/** What an error says is read by people: as UTF-8, which the frames themselves are not. */
export function errorFrame(data: string): RelayFault {
  return { kind: 'error_frame', error: JSON.parse(readable(data, 'latin1')) };
}
