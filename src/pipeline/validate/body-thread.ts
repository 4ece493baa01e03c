/** The thread that parses, checks and serialises large bodies: the main thread sees only what routing needs. */
import { serveThread } from '../../base/side-thread-port.js';
import { doorOf } from '../../doors/registry.js';
import { GatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';

/** A body, and the path of the door that it came to. */
export interface LargeBody {
  path: string;
  bytes: ArrayBuffer;
}

export interface ThreadError {
  condition: string;
  values: unknown;
}

serveThread<LargeBody, ChatRequest>(
  ({ path, bytes }) => {
    const request = doorOf(path).readRequest(Buffer.from(bytes), true);
    const text = request.members as string;
    const members = new Uint8Array(Buffer.byteLength(text, request.encoding));
    Buffer.from(members.buffer).write(text, request.encoding);
    return { result: { ...request, members: members as unknown as Buffer }, transfer: [members.buffer] };
  },
  (error): ThreadError | string =>
    error instanceof GatewayError ? { condition: error.condition, values: error.values } : String(error),
);
