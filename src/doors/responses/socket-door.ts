/**
 * Reads the messages of a Responses WebSocket. A message is the body of a `POST` with a `type`. It may continue the last response of its
 * connection, whose conversation is then put before the message, so that reading needs no memory and can be done in any thread.
 */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../../base/latin1.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest } from '../../wire/chat-request.js';
import { findMembers } from '../../wire/json-members.js';
import { shown } from '../../wire/json-text.js';
import { memberText, withMembers, withoutMembers } from '../../wire/splice-members.js';
import { checkExcess, type Fields, isFields, parseBody } from '../body.js';
import type { Door, StreamWriter } from '../door.js';
import { plainRequest } from '../translated-request.js';
import { readResponsesRequest } from './read-request.js';
import { responsesDoor } from './responses-door.js';
import { socketError } from './socket-error.js';

/** The last response of a connection, and all items up to its end: JSON text without the brackets. */
export interface Conversation {
  readonly id: string;
  readonly items: Buffer;
}

/** Reads a message that continues nothing. */
export const socketDoor: Door = {
  ...responsesDoor,
  reader: 'responses-socket',
  readRequest: (message, large) => readSocketMessage(null, message, large),
  openStream: (request, isNative) => withSocketErrors(responsesDoor.openStream!(request, isNative)),
};

/** Reads what `continuedMessage` has put together. */
export const continuedSocketDoor: Door = {
  ...socketDoor,
  reader: 'responses-socket-continued',
  sentPart: (body) => partsOf(body).message,
  readRequest: (body, large) => {
    const { previous, message } = partsOf(body);
    return readSocketMessage(previous, message, large);
  },
};

const sequenceOf = /"sequence_number":(\d+)/;

/** The error inside of a stream has the form of the transport's other errors. */
function withSocketErrors(writer: StreamWriter): StreamWriter {
  const write = writer.writeError.bind(writer);
  writer.writeError = (error, requestId) => {
    const sequence = Number(sequenceOf.exec(write(error, requestId))?.[1] ?? 0);
    return asLatin1(
      `event: error\ndata: ${encodeLatin1(socketError(error, { 'x-request-id': requestId }, sequence))}\n\n`,
    );
  };
  return writer;
}

/** JSON text does not have it anywhere. */
const separator = 0x1e;

/** The id of the conversation, its items and the message, each as JSON text: long texts may be set aside in all of them. */
export function continuedMessage({ id, items }: Conversation, message: Buffer): Buffer {
  const end = Buffer.from([separator]);
  return Buffer.concat([Buffer.from(JSON.stringify(id)), end, Buffer.from('['), items, Buffer.from(']'), end, message]);
}

function partsOf(body: Buffer): { previous: Conversation; message: Buffer } {
  const start = body.indexOf(separator);
  const end = body.indexOf(separator, start + 1);
  const id = JSON.parse(body.toString('utf8', 0, start)) as string;
  return { previous: { id, items: body.subarray(start + 2, end - 1) }, message: body.subarray(end + 1) };
}

/** Members that belong to the transport. */
const ownMembers = ['type', 'stream', 'generate', 'previous_response_id'];

function readSocketMessage(previous: Conversation | null, message: Buffer, large = false): ChatRequest {
  // Measured before anything is written anew, which takes a stack as deep as the message.
  checkExcess(message);
  const { fields, text, encoding } = parseBody(message, large);
  checkMessage(fields, (value) => shown(value, encoding));
  const { previous_response_id: previousId } = fields;
  const latin1 = encoding === 'latin1' ? text : encodeLatin1(text);
  let changed = withMembers(withoutMembers(latin1, ownMembers), { stream: 'true' });
  const continues = typeof previousId === 'string';
  if (continues) {
    if (previousId !== previous?.id)
      throw gatewayError('previous_response_not_found', { id: previousId.slice(0, 100) });
    const given = memberText(changed, 'input');
    // A stored prompt may be all that is new.
    const items = given === undefined && isFields(fields.prompt) ? '' : itemsIn(given);
    if (items !== null) {
      const before = previous.items.toString('latin1');
      changed = withMembers(changed, { input: `[${[before, items].filter((part) => part !== '').join(',')}]` });
    }
  }
  const request = plainRequest(
    readResponsesRequest(Buffer.from(changed, 'latin1'), large, { previousId: continues ? previousId : null }),
  );
  const native = request.native!;
  const found = findMembers(native.body as string);
  const at = found ? found.keys.indexOf('input') : -1;
  if (!found || at === -1) return request;
  return { ...request, native: { ...native, input: { start: found.valueStarts[at]!, end: found.ends[at]! } } };
}

function checkMessage(fields: Fields, show: (value: unknown) => string): void {
  const refuse = (param: string, what: string): never => {
    throw gatewayError('request_invalid', { param, what });
  };
  const { type, generate, previous_response_id: id, stream_id: stream } = fields;
  if (type !== 'response.create') {
    const found = type === undefined ? '`type` is missing' : `\`type\` is ${show(type)}`;
    refuse('type', `${found}. Send messages of the type "response.create".`);
  }
  if (generate === false) refuse('generate', '`generate` is false, but nothing is prepared ahead here. Leave it out.');
  if (stream !== undefined && stream !== null) {
    refuse(
      'stream_id',
      '`stream_id` asks for several responses at once. Open a connection for each, and leave it out.',
    );
  }
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw gatewayError('field_type', { param: 'previous_response_id', found: show(id), expected: 'a string' });
  }
}

/** The items of `input` without the brackets; null where it is no input. A text is an item of the user. */
function itemsIn(input: string | undefined): string | null {
  const text = input?.trim() ?? '';
  if (text.startsWith('"')) return `{"type":"message","role":"user","content":${text}}`;
  return text.startsWith('[') ? text.slice(1, -1).trim() : null;
}

/** The conversation after a response, for the next message. null where the request or its answer cannot be repeated. */
export function conversationAfter({ native }: ChatRequest, terminalEvent: string): Conversation | null {
  const response = memberText(terminalEvent, 'response');
  const id = response === undefined ? undefined : memberText(response, 'id');
  const output = response === undefined ? undefined : memberText(response, 'output');
  if (!native?.input || !id?.startsWith('"') || !output?.startsWith('[')) return null;
  const { start, end } = native.input;
  const { body } = native;
  const sent = itemsIn(typeof body === 'string' ? body.slice(start, end) : body.toString('latin1', start, end));
  if (sent === null) return null;
  const parts = [sent, ...repeatable(JSON.parse(output) as unknown[]).map((item) => JSON.stringify(item))];
  const items = Buffer.from(parts.filter((part) => part !== '').join(','), 'latin1');
  return { id: JSON.parse(decodeLatin1(asLatin1(id))) as string, items };
}

/**
 * Reasoning that only its id refers to is lost with the answer, because nothing is stored at the provider. The ids of the other items
 * then go too: a provider would look for the reasoning that belongs to them.
 */
function repeatable(output: readonly unknown[]): readonly unknown[] {
  const items = output.filter(isFields);
  const kept = items.filter(({ type, encrypted_content: text }) => type !== 'reasoning' || typeof text === 'string');
  return kept.length === items.length ? kept : kept.map(({ id: _, ...item }) => item);
}
