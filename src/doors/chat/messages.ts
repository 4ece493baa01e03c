/** Checks the messages of a chat completions request: parsed ones, and usual ones in their text. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { nestingMax, shown, type TextEncoding } from '../../wire/json-text.js';
import { oneOf, scanEntries } from '../../wire/scan-object.js';
import { isFields } from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { RequestObject } from '../scanned-request.js';

export const messageRoles = ['system', 'developer', 'user', 'assistant', 'tool'] as const;
export const stopSequencesMax = 4;
const roles: ReadonlySet<string> = new Set(messageRoles);

/** Throws the error of the first message that is not valid. */
export function checkMessages(messages: unknown, encoding: TextEncoding): void {
  if (messages === undefined || messages === null) throw gatewayError('messages_missing');
  if (!Array.isArray(messages)) {
    throw gatewayError('field_type', { param: 'messages', found: shown(messages, encoding), expected: 'an array' });
  }
  if (messages.length === 0) throw gatewayError('messages_missing');
  for (let index = 0; index < messages.length; index++) checkMessage(messages[index], index, encoding);
}

function checkMessage(message: unknown, index: number, encoding: TextEncoding): void {
  if (message === null || typeof message !== 'object' || Array.isArray(message)) {
    throw gatewayError('message_invalid', { index, reason: `is ${shown(message, encoding)}, but must be an object` });
  }
  checkInnerNames(message as Record<string, unknown>, () => `messages[${index}]`, encoding);
  const { role, content, tool_call_id } = message as Record<string, unknown>;
  if (typeof role !== 'string' || !roles.has(role)) {
    throw gatewayError('role_not_allowed', { index, found: role === undefined ? 'missing' : shown(role, encoding) });
  }
  if (role === 'tool' && (typeof tool_call_id !== 'string' || tool_call_id === '')) {
    throw gatewayError('message_invalid', { index, reason: 'has the role "tool", but no `tool_call_id`' });
  }
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    const reason = `has a \`content\` that is ${shown(content, encoding)}, but must be a string or an array of parts`;
    throw gatewayError('message_invalid', { index, reason });
  }
  if (Array.isArray(content)) checkParts(content, index, encoding);
  if (role === 'assistant') dropReasoningAlias(message as Record<string, unknown>);
}

/** Parts are the provider's to judge, but for what has a price or names a file. */
function checkParts(parts: readonly unknown[], index: number, encoding: TextEncoding): void {
  parts.forEach((part, at) => {
    if (!isFields(part)) return;
    checkInnerNames(part, () => `messages[${index}].content[${at}]`, encoding);
    if (isFields(part.file)) checkInnerNames(part.file, () => `messages[${index}].content[${at}].file`, encoding);
  });
}

/**
 * An answer has its reasoning under two names, the provider's own first. A client that sends the message back as it came must not
 * send the second one to the provider, because strict providers refuse names that are not theirs.
 */
function dropReasoningAlias(message: Record<string, unknown>): void {
  const { reasoning, reasoning_content } = message;
  if (typeof reasoning !== 'string' || reasoning !== reasoning_content) return;
  const alias = Object.keys(message).findLast((key) => key === 'reasoning' || key === 'reasoning_content')!;
  delete message[alias];
}

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const letterN = 0x6e;
const backslash = 0x5c;

/** What one pass has found; used again for the next request. */
let hasParts = false;
let isFilled = false;

/**
 * Checks messages like `checkMessages`, in their text. Moves the scanner behind them; null where they are unusual or not valid. Messages of
 * which none surely says something are unusual too: not every provider takes them, and the parser looks closer.
 */
export function scanMessages(json: JsonScanner): 'texts' | 'parts' | null {
  hasParts = isFilled = false;
  if (!json.take(openBracket)) return null;
  for (;;) {
    if (!scanMessage(json)) return null;
    const next = json.takeNext(closeBracket);
    if (next === 'more') continue;
    if (next === null || !isFilled) return null;
    return hasParts ? 'parts' : 'texts';
  }
}

/** The members of a message that are usual, each as a bit. A message with another one, or with one of them twice, is parsed. */
const messageMembers = [
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'reasoning_content',
] as const;
const roleBit = 1 << messageMembers.indexOf('role');
const callIdBit = 1 << messageMembers.indexOf('tool_call_id');
/** A message is on the second level below the body. */
const levelsInMessage = nestingMax - 3;

function scanMessage(json: JsonScanner): boolean {
  if (!json.take(openBrace)) return false;
  const wasFilled = isFilled;
  let found = 0;
  let isTool = false;
  let isSystem = false;
  for (;;) {
    const key = json.takeKey();
    if (key === -1) return false;
    const name = json.nameAt(messageMembers, key, json.keyEnd);
    if (name === null) return false;
    const bit = 1 << messageMembers.indexOf(name);
    if ((found & bit) !== 0) return false;
    found |= bit;
    if (name === 'role') {
      const role = scanRole(json);
      if (role === null) return false;
      isTool = role === 'tool';
      isSystem = role === 'system' || role === 'developer';
    } else if (!scanMessageMember(json, name)) return false;
    const next = json.takeNext(closeBrace);
    if (next === 'more') continue;
    if (next === null) return false;
    isFilled = wasFilled || isTool || (isFilled && !isSystem);
    return (found & roleBit) !== 0 && (!isTool || (found & callIdBit) !== 0);
  }
}

function scanRole(json: JsonScanner): string | null {
  const start = json.takePlainString();
  return start === -1 ? null : json.nameAt(messageRoles, start, json.at - 1);
}

/** The inside of a text that is surely more than blanks. */
const notBlank = /(?:\s|\\[nrtf])*(?:[^\s"\\]|\\[^nrtfu])/y;

/** `at` is where the inside of the text begins. */
function saysSomething({ text }: JsonScanner, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 0x20 && code < 0x7f && code !== quote && code !== backslash) return true;
  notBlank.lastIndex = at;
  return notBlank.test(text);
}

/** Text and images. Audio has a price of its own, and a file may be one that the provider keeps, so that the parser looks at others. */
const part = new RequestObject({ type: oneOf({ text: 1, image_url: 1 }) });

function scanPart(json: JsonScanner, levels: number): number {
  return part.scan(json, levels) === 1 ? 0 : -1;
}

const filledPart = /"(?:text|url|data|file_data)"\s*:\s*"[^"\\\s]/;

function scanMessageMember(json: JsonScanner, name: (typeof messageMembers)[number]): boolean {
  const code = json.peek();
  if (name === 'content') {
    const start = json.at;
    if (code === quote) {
      isFilled ||= saysSomething(json, start + 1);
      return json.skipString();
    }
    if (code === letterN) return json.takeWord('null');
    if (scanEntries(json, levelsInMessage, scanPart) === -1) return false;
    hasParts = true;
    isFilled ||= filledPart.test(json.text.slice(start, json.at));
    return true;
  }
  // Where it is needed, an empty one is an error.
  if (name === 'tool_call_id') return json.takePlainString() !== -1 && json.text.charCodeAt(json.at - 2) !== quote;
  return json.skipValue(levelsInMessage);
}
