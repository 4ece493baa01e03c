/**
 * Fields that a name of the operator adds to a request, where the client has left them out. They are stored as fields of chat completions,
 * and each door says what they are called in its own API.
 */
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { whyNoDefault } from '../wire/default-fields.js';
import { findMembers } from '../wire/json-members.js';
import { anyDoor, type BodyReader } from './any-door.js';
import { checkExcess, type Fields, isFields, parseBody } from './body.js';
import { chatDoor } from './chat/chat-door.js';
import type { DefaultWords } from './default-words.js';
import { doorNamed } from './registry.js';

export type Defaults = Readonly<Record<string, unknown>>;

/** Throws the 400 of a chat request with these fields. */
export function checkDefaults(defaults: Defaults): void {
  for (const field in defaults) {
    const what = whyNoDefault(field);
    if (what !== null) throw gatewayError('request_invalid', { param: field, what });
  }
  const request = { ...defaults, model: 'auto/a/b', messages: [{ role: 'user', content: 'a' }] };
  chatDoor.readRequest(Buffer.from(JSON.stringify(request)));
}

/** What is wrong with each default by itself. */
export function defaultFaults(defaults: Defaults): { readonly field: string; readonly reason: string }[] {
  return Object.keys(defaults).flatMap((field) => {
    try {
      checkDefaults({ [field]: defaults[field] });
      return [];
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return { field, reason: error.message };
    }
  });
}

/** Names of one thing: a field under one of them answers for the others. */
const otherNames: readonly (readonly string[])[] = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning_effort', 'reasoning'],
  ['tools', 'functions'],
  ['tool_choice', 'function_call'],
  ['output_config', 'output_format', 'thinking'],
];

/** Reads a request anew with the defaults that it lacks. `request` is what was read of the body as it was sent. */
export function readWithDefaults(
  reader: BodyReader,
  body: Buffer,
  request: ChatRequest,
  defaults: Defaults,
  large = false,
): ChatRequest {
  const words = reader === anyDoor ? doorNamed(apiOf(request))?.defaultWords : reader.defaultWords;
  if (!words) return request;
  const sent = reader.sentPart?.(body) ?? body;
  const added = lackingFields(sent, defaults, words);
  const names = Object.keys(added);
  if (names.length === 0) return request;
  const start = sent.indexOf('{') + 1;
  const head = body.subarray(0, body.length - sent.length + start);
  const members = Buffer.from(`${JSON.stringify(added).slice(1, -1)},`);
  const filled = reader.readRequest(Buffer.concat([head, members, sent.subarray(start)]), large);
  filled.filled = names;
  return filled;
}

function apiOf({ task, native }: ChatRequest): string {
  if (task) return task.kind === 'embedding' ? 'embeddings' : task.kind;
  return native?.api ?? 'chat';
}

function lackingFields(sent: Buffer, defaults: Defaults, words: DefaultWords): Fields {
  const fields = sentFields(sent);
  const added: Fields = {};
  for (const name in defaults) {
    const word = words(name, defaults[name]);
    if (word === null || isSent(fields, word[0])) continue;
    const [field, value] = word;
    const before = added[field];
    added[field] = isFields(before) && isFields(value) ? { ...before, ...value } : value;
  }
  return added;
}

/** The names of the body's fields. It is parsed only where a name is there twice or has escapes. */
function sentFields(sent: Buffer): ReadonlySet<string> {
  const found = findMembers(sent.toString('latin1'));
  if (found) return new Set(found.keys);
  checkExcess(sent);
  return new Set(Object.keys(parseBody(sent, false).fields));
}

function isSent(fields: ReadonlySet<string>, field: string): boolean {
  if (fields.has(field)) return true;
  return otherNames.some((names) => names.includes(field) && names.some((name) => fields.has(name)));
}
