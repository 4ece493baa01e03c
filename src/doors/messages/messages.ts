/**
 * Scans and checks the system prompt and the messages of a Messages request: whatever would be damaged in a translation, and refused by any
 * provider, is refused here. Blocks of types that are not known here are left to the provider.
 */
import { type GatewayError, gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { entryOf, shown, type TextEncoding } from '../../wire/json-text.js';
import { anObject, anyValue, aText, oneOf, scanEntries, takeText, unusual } from '../../wire/scan-object.js';
import { type Fields, isFields } from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { entriesOf, type Rule, requestObject, scanned, typedObject } from '../rules.js';
import { toolsInBlock } from './translate-tools.js';

const roles = ['user', 'assistant', 'system'];

const message = requestObject(
  { role: oneOf(Object.fromEntries(roles.map((role) => [role, 0]))), content: scanContent },
  ['role', 'content'],
);

/** `checkMessages` is called after the checks of all other fields. */
export const conversation: Rule = { scan: entriesOf(message.scan) };

export function checkMessages({ messages }: Fields, encoding: TextEncoding): void {
  if (messages === undefined || (Array.isArray(messages) && messages.length === 0)) {
    throw gatewayError('messages_missing');
  }
  if (!Array.isArray(messages)) {
    throw gatewayError('field_type', { param: 'messages', found: shown(messages, encoding), expected: 'an array' });
  }
  messages.forEach((message, index) => {
    if (!isFields(message)) {
      throw gatewayError('message_invalid', { index, reason: `is ${shown(message, encoding)}, but must be an object` });
    }
    checkInnerNames(message, () => `messages[${index}]`, encoding);
    checkMessage(message, index, encoding);
  });
}

function checkMessage({ role, content }: Fields, index: number, encoding: TextEncoding): void {
  const refuse = (reason: string): GatewayError => gatewayError('message_invalid', { index, reason });
  if (typeof role !== 'string' || !roles.includes(role)) {
    const found = role === undefined ? 'missing' : shown(role, encoding);
    const hint = role === 'tool' || role === 'developer' ? '; it is a role of /v1/chat/completions' : '';
    throw refuse(`has a \`role\` that is ${found}, but must be user, assistant or system${hint}`);
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) {
    const found = content === undefined ? 'missing' : shown(content, encoding);
    throw refuse(`has a \`content\` that is ${found}, but must be a string or an array of blocks`);
  }
  if (content.length === 0 && role === 'user') throw refuse('has no block in its `content`, but needs at least one');
  checkBlocks(content, { refuse, encoding, name: `messages[${index}].content` });
}

/** The system prompt: text, or text blocks. */
export const systemPrompt: Rule = {
  scan: scanned(scanContent),
  check: (system, param, encoding) => {
    if (typeof system === 'string') return;
    if (!Array.isArray(system)) {
      const expected = 'a string or an array of text blocks';
      throw gatewayError('field_type', { param, found: shown(system, encoding), expected });
    }
    const refuse = (reason: string): GatewayError =>
      gatewayError('request_invalid', { param, what: `\`system\` ${reason}.` });
    checkBlocks(system, { refuse, encoding, name: param });
  },
};

/** Text, or at least one block. */
function scanContent(json: JsonScanner, levels: number): number {
  return takeText(json) ? 0 : scanEntries(json, levels, block.scan);
}

interface Place {
  /** The error of the list that the blocks are in. */
  refuse(reason: string): GatewayError;
  /** As the error of a name in other case has it. */
  readonly name: string;
  readonly encoding: TextEncoding;
}

function checkBlocks(blocks: readonly unknown[], place: Place): void {
  blocks.forEach((block, at) => {
    if (!isFields(block) || typeof block.type !== 'string') {
      throw place.refuse(`has a block ${at} that is not an object with a \`type\``);
    }
    checkInnerNames(block, () => `${place.name}[${at}]`, place.encoding);
    checkBlock(block, block.type, place);
  });
}

/** The texts without which a block can be neither sent nor translated. */
const texts: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  tool_use: ['id', 'name'],
  tool_result: ['tool_use_id'],
};

/** A scan leaves blocks of other types to the parser. */
const block = typedObject(
  { ...texts, image: ['source'], document: ['source'], thinking: [], redacted_thinking: [] },
  {
    ...{ text: aText(0), id: aText(0), name: aText(0), input: anObject(0), tool_use_id: aText(0) },
    ...{ content: scanContent, source: scanSource, cache_control: anyValue },
  },
);

/** The texts of a source, by its type. */
const sourceTexts: Readonly<Record<string, readonly string[]>> = {
  base64: ['media_type', 'data'],
  text: ['data'],
  url: ['url'],
  file: ['file_id'],
};

const { base64, url } = sourceTexts;
/** A scan leaves what the provider keeps to the parser, in whatever source it is named. */
const source = typedObject(
  { base64: base64!, url: url! },
  { data: aText(0), media_type: aText(0), url: aText(0), file_id: unusual, content: unusual },
);

function scanSource(json: JsonScanner, levels: number): number {
  return source.scan(json, levels);
}

function checkBlock(block: Fields, type: string, place: Place): void {
  checkTexts(block, entryOf(texts, type), `\`${type}\` block`, place);
  for (const tool of toolsInBlock(block)) checkInnerNames(tool, () => `${place.name}.tool.definition`, place.encoding);
  if (type === 'image' || type === 'document') checkSource(block.source, type, place);
  else if (type === 'tool_result') checkContent(block.content, type, place);
  else if (type === 'tool_use' && block.input !== undefined && !isFields(block.input)) {
    const found = shown(block.input, place.encoding);
    throw place.refuse(`has a \`tool_use\` block whose \`input\` is ${found}, but must be an object`);
  }
}

function checkTexts(holder: Fields, names: readonly string[] | undefined, what: string, place: Place): void {
  for (const name of names ?? []) {
    const value = holder[name];
    if (typeof value === 'string') continue;
    if (value === undefined || value === null) throw place.refuse(`has a ${what} without \`${name}\``);
    throw place.refuse(`has a ${what} whose \`${name}\` is ${shown(value, place.encoding)}, but must be a string`);
  }
}

function checkSource(source: unknown, type: string, place: Place): void {
  if (source === undefined || source === null) throw place.refuse(`has a \`${type}\` block without \`source\``);
  if (!isFields(source) || typeof source.type !== 'string') {
    throw place.refuse(`has a \`${type}\` block whose \`source\` is not an object with a \`type\``);
  }
  checkInnerNames(source, () => `${place.name}.source`, place.encoding);
  checkTexts(source, entryOf(sourceTexts, source.type), `\`${source.type}\` source of a \`${type}\` block`, place);
  if (source.type === 'content') checkContent(source.content, type, place);
}

function checkContent(content: unknown, type: string, place: Place): void {
  if (content === undefined || content === null || typeof content === 'string') return;
  if (!Array.isArray(content)) {
    const found = shown(content, place.encoding);
    throw place.refuse(`has a \`${type}\` block whose content is ${found}, but must be a string or an array of blocks`);
  }
  checkBlocks(content, place);
}
