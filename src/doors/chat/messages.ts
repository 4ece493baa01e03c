/** Checks the messages of a chat completions request: parsed ones, and usual ones in their text. */
import { gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { shown, type TextEncoding } from '../../wire/json-text.js';
import {
  anyValue,
  ObjectScan,
  oneOf,
  plainText,
  scanEntries,
  unusual,
  type ValueScan,
} from '../../wire/scan-object.js';
import { isFields } from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { type Rule, requestObject } from '../rules.js';

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

/** What a scan finds in messages. */
export const hasParts = 1;
/** Something is said, by somebody else than the system. */
const isFilled = 2;
const isSystem = 4;
const isTool = 8;
const hasCallId = 16;

const quote = 0x22;
const letterN = 0x6e;
const backslash = 0x5c;

/** The inside of a text that is surely more than blanks. */
const notBlank = /(?:\s|\\[nrtf])*(?:[^\s"\\]|\\[^nrtfu])/y;

/** `at` is where the inside of the text begins. */
function saysSomething({ text }: JsonScanner, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 0x20 && code < 0x7f && code !== quote && code !== backslash) return true;
  notBlank.lastIndex = at;
  return notBlank.test(text);
}

const spokenText: ValueScan = (json, levels) => {
  if (json.peek() !== quote) return anyValue(json, levels);
  const bits = saysSomething(json, json.at + 1) ? isFilled : 0;
  return json.skipString() ? bits : -1;
};

/** Text and images. Audio has a price of its own, and a file may be one that the provider keeps, so that the parser looks at others. */
const part = requestObject({ type: oneOf({ text: 0, image_url: isFilled }), text: spokenText, file: unusual }, [
  'type',
]);

/** The members that are usual. A message with another one is parsed. */
const message = new ObjectScan(
  {
    role: oneOf({ user: 0, assistant: 0, system: isSystem, developer: isSystem, tool: isTool }),
    content: (json, levels) => {
      const code = json.peek();
      if (code === quote) return spokenText(json, levels);
      if (code === letterN) return json.takeWord('null') ? 0 : -1;
      const found = scanEntries(json, levels, part.scan);
      return found === -1 ? -1 : found | hasParts;
    },
    name: anyValue,
    tool_calls: anyValue,
    tool_call_id: plainText(hasCallId),
    refusal: anyValue,
    reasoning_content: anyValue,
  },
  'none',
  ['role'],
);

function scanMessage(json: JsonScanner, levels: number): number {
  const found = message.scan(json, levels);
  if (found === -1) return -1;
  if ((found & isTool) !== 0) return (found & hasCallId) !== 0 ? (found & hasParts) | isFilled : -1;
  return (found & isSystem) !== 0 ? found & hasParts : found & (hasParts | isFilled);
}

/**
 * Checks messages like `checkMessages`, in their text. Messages of which none surely says something are unusual: not every provider takes
 * them, and the parser looks closer.
 */
export const conversation: Rule = {
  scan: (json, levels) => {
    const found = scanEntries(json, levels, scanMessage);
    return found !== -1 && (found & isFilled) !== 0 ? found : undefined;
  },
};
