/** The thread that translates large requests into a provider's dialect. */
import { serveThread } from '../base/side-thread-port.js';
import { gatewayError, threadErrorOf } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { requestExcessOf } from '../wire/json-text.js';
import { outgoingBytes } from '../wire/outgoing-body.js';
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
  // A provider of another dialect gets the request anew, so all of it is read into objects.
  if (requestExcessOf(bytes) !== null)
    throw gatewayError('body_too_detailed', { what: 'has more values than can be translated' });
  const members = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { path, body } = dialectOf(dialect).callOf({ ...request, members }, target);
  return { result: { path, body: outgoingBytes(body) } };
}, threadErrorOf);
