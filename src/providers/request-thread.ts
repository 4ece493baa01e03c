/** The thread that translates large requests into a provider's dialect. */
import { bytesOfLatin1 } from '../base/latin1.js';
import { serveThread } from '../base/side-thread-port.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { OutgoingCall, Target } from './dialects/dialect.js';
import { dialectOf } from './dialects/registry.js';

export interface RequestToWrite {
  request: ChatRequest;
  target: Target;
  dialect: string;
}

serveThread<RequestToWrite, OutgoingCall>(({ request, target, dialect }) => {
  // A Buffer arrives from another thread as a Uint8Array.
  const bytes = request.members as Uint8Array;
  const members = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { path, body } = dialectOf(dialect).callOf({ ...request, members }, target);
  return { result: { path, body: typeof body === 'string' ? bytesOfLatin1(body) : body } };
});
