/**
 * Fields that a name of the operator adds to a request, where the client has left them out. They are stored as fields of chat completions,
 * and each door says what they are called in its own API.
 */
import { encodeLatin1 } from '../base/latin1.js';
import { GatewayError, gatewayError } from '../errors/gateway-error.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { whyNoDefault } from '../wire/default-fields.js';
import { findMembers, memberValue } from '../wire/json-members.js';
import { withMembers } from '../wire/splice-members.js';
import { anyDoor, type BodyReader } from './any-door.js';
import { type Fields, isFields } from './body.js';
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

/** A field, or a member of one. */
type Place = readonly [field: string, member?: string];

/** Names of one thing: what stands under one of them answers for the other. */
const otherNames: readonly (readonly [Place, Place])[] = [
  [['max_tokens'], ['max_completion_tokens']],
  [['reasoning_effort'], ['reasoning']],
  [['tools'], ['functions']],
  [['tool_choice'], ['function_call']],
  [['thinking'], ['output_config', 'effort']],
  [['output_format'], ['output_config', 'format']],
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
  const start = sent.indexOf('{');
  const text = sent.toString('latin1', start);
  const { changes, names } = lackingMembers(text, defaults, words);
  if (names.length === 0) return request;
  const head = body.subarray(0, body.length - sent.length + start);
  const filled = reader.readRequest(Buffer.concat([head, Buffer.from(withMembers(text, changes), 'latin1')]), large);
  filled.filled = names;
  return filled;
}

function apiOf({ task, native }: ChatRequest): string {
  if (task) return task.kind === 'embedding' ? 'embeddings' : task.kind;
  return native?.api ?? 'chat';
}

interface Lacking {
  /** The members to write, as JSON text; those of which the client has sent a part have that part. */
  readonly changes: Record<string, string>;
  /** What of it the client has left out. */
  readonly names: string[];
}

function lackingMembers(text: string, defaults: Defaults, words: DefaultWords): Lacking {
  const sent = sentMembers(text);
  const changes: Record<string, string> = {};
  const names = new Set<string>();
  for (const name in defaults) {
    const word = words(name, defaults[name]);
    if (word === null) continue;
    const [field, value, member] = word;
    if (isSent(sent, [field, member])) continue;
    const json = encodeLatin1(JSON.stringify(value));
    const own = sent(field);
    names.add(own === undefined ? field : `${field}.${member}`);
    changes[field] = member === undefined ? json : withMembers(changes[field] ?? own ?? '{}', { [member]: json });
  }
  return { changes, names: [...names] };
}

/** The text of a member; undefined where it was not sent. */
type Sent = (name: string) => string | undefined;

/** The body is parsed only where a name is there twice or has escapes. */
function sentMembers(text: string): Sent {
  const found = findMembers(text);
  if (found) return (name) => memberValue(text, found, name);
  const fields = JSON.parse(text) as Fields;
  return (name) => (Object.hasOwn(fields, name) ? JSON.stringify(fields[name]) : undefined);
}

function isSent(sent: Sent, place: Place): boolean {
  const isHere = ([field, member]: Place): boolean => field === place[0] && member === place[1];
  const names = otherNames.find((each) => each.some(isHere)) ?? [place];
  return names.some((name) => isThere(sent, name));
}

/** An object lacks the members that it does not have; any other value of the field answers for all of them. */
function isThere(sent: Sent, [field, member]: Place): boolean {
  const own = sent(field);
  if (own === undefined || member === undefined) return own !== undefined;
  const value: unknown = JSON.parse(own);
  return !isFields(value) || Object.hasOwn(value, member);
}
