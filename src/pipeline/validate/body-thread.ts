/** The thread that parses, checks and serialises large bodies: the main thread sees only what routing needs. */
import { serveThread } from '../../base/side-thread-port.js';
import { bodyReaderOf } from '../../doors/any-door.js';
import { plainRequest } from '../../doors/translated-request.js';
import { GatewayError } from '../../errors/gateway-error.js';
import { bodyHash } from '../../proof/proof-facts.js';
import type { ChatRequest } from '../../wire/chat-request.js';

/** A body, and the name of what reads it. */
export interface LargeBody {
  reader: string;
  bytes: ArrayBuffer;
  /** Whether its hash is wanted. */
  hashed: boolean;
}

export interface ThreadError {
  condition: string;
  values: unknown;
}

serveThread<LargeBody, ChatRequest>(
  ({ reader, bytes, hashed }) => {
    const door = bodyReaderOf(reader);
    const body = Buffer.from(bytes);
    // Before the body is read, which may reuse its memory.
    const own = hashed ? { bodyHash: bodyHash(door.sentPart?.(body) ?? body) } : {};
    const request = plainRequest(door.readRequest(body, true));
    const text = request.members as string;
    const members = new Uint8Array(Buffer.byteLength(text, request.encoding));
    Buffer.from(members.buffer).write(text, request.encoding);
    return { result: { ...request, ...own, members: members as unknown as Buffer }, transfer: [members.buffer] };
  },
  (error): ThreadError | string =>
    error instanceof GatewayError ? { condition: error.condition, values: error.values } : String(error),
);
