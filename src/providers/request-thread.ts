/** The thread that translates large requests into a provider's dialect. */
import { serveThread } from '../base/side-thread-port.js';
import type { ChatRequest } from '../wire/chat-request.js';
import type { OutgoingCall, Target } from './dialects/dialect.js';
import { adapterOf } from './dialects/registry.js';

export interface RequestToWrite {
  request: ChatRequest;
  target: Target;
  dialect: string;
}

serveThread<RequestToWrite, OutgoingCall>(({ request, target, dialect }) => {
  // A buffer arrives as plain bytes.
  const bytes = request.members as Uint8Array;
  const members = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { path, body } = adapterOf(dialect).outgoing({ ...request, members }, target);
  return { result: { path, body: typeof body === 'string' ? Buffer.from(body, 'latin1') : body } };
});
