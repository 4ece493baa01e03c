/** Reads a body of any client API, which its member `door` names; without it, of chat completions. */
import { encodeLatin1 } from '../base/latin1.js';
import { gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { shown } from '../wire/json-text.js';
import { withoutMembers } from '../wire/splice-members.js';
import { checkExcess, parseBody } from './body.js';
import { chatDoor } from './chat/chat-door.js';
import type { Door } from './door.js';
import { doorNamed, doorOf, doors } from './registry.js';
import { continuedSocketDoor, socketDoor } from './responses/socket-door.js';

/** What reads the bodies that are sent to a path. */
export type BodyReader = Pick<Door, 'path' | 'reader' | 'sentPart' | 'readRequest' | 'defaultWords'> &
  Partial<Pick<Door, 'fields'>>;

export const anyDoor: BodyReader = { path: '/v1/routes/explain', readRequest };

/** What reads the bodies of a path: one of the doors, or the reader for all of them. `name` may also be that of a reader. */
export function bodyReaderOf(name: string): BodyReader {
  const socket = [socketDoor, continuedSocketDoor].find(({ reader }) => reader === name);
  if (socket) return socket;
  return name === anyDoor.path ? anyDoor : doorOf(name);
}

function readRequest(bytes: Buffer, large = false): ChatRequest {
  if (!bytes.includes('"door"')) return chatDoor.readRequest(bytes, large);
  // Measured before anything is written anew, which takes a stack as deep as the body.
  checkExcess(bytes);
  const { fields, text, encoding } = parseBody(bytes, false);
  const { door: name } = fields;
  if (name === undefined || name === null) return chatDoor.readRequest(bytes, large);
  const door = doorNamed(name);
  if (!door) {
    const names = new Set(doors.map((each) => `"${each.name}"`));
    const expected = `one of ${[...names].join(', ')}`;
    throw gatewayError('field_type', { param: 'door', found: shown(name, encoding), expected });
  }
  const body = withoutMembers(encoding === 'latin1' ? text : encodeLatin1(text), ['door']);
  return door.readRequest(Buffer.from(body, 'latin1'), large);
}
