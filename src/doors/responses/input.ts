/**
 * Scans and checks the items of a Responses request: whatever would be damaged in a translation, and refused by any provider, is refused
 * here. Items and parts of types that are not known here are left to the provider.
 */
import { gatewayError } from '../../errors/gateway-error.js';
import type { JsonScanner } from '../../wire/json-scanner.js';
import { entryOf, shown, type TextEncoding } from '../../wire/json-text.js';
import { aText, oneOf, scanEntries, takeText, unusual } from '../../wire/scan-object.js';
import { type Fields, isFields } from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { type Rule, typedObject } from '../rules.js';
import { toolsInItem } from './translate-tools.js';

const roles = ['user', 'assistant', 'system', 'developer'];
const callTexts = ['call_id', 'name', 'arguments'];

/** A scan leaves items of other types to the parser. */
const item = typedObject(
  {
    ...{ message: ['role', 'content'], function_call: callTexts, function_call_output: ['call_id', 'output'] },
    ...{ reasoning: [], custom_tool_call: [], custom_tool_call_output: [] },
  },
  {
    role: oneOf(Object.fromEntries(roles.map((role) => [role, 0]))),
    ...{ content: scanContent, call_id: aText(0), name: aText(0), arguments: aText(0), output: scanContent },
  },
  'message',
);

/** `checkInput` is called before the checks of all other fields. */
export const input: Rule = {
  scan: (json, levels) => (takeText(json) || scanEntries(json, levels, item.scan) !== -1 ? true : undefined),
};

/** Text, or at least one part. */
function scanContent(json: JsonScanner, levels: number): number {
  return takeText(json) ? 0 : scanEntries(json, levels, part.scan);
}

/** Throws the error of the first item that is not valid. A stored prompt may be all of the input. */
export function checkInput({ input, prompt }: Fields, encoding: TextEncoding): void {
  if (prompt !== undefined) {
    checkPrompt(prompt, encoding);
    if (input === undefined) return;
  }
  if (input === undefined) throw invalid('`input` is missing. Send a text or an array of items.');
  if (typeof input === 'string') return;
  if (!Array.isArray(input)) {
    const expected = 'a string or an array of items';
    throw gatewayError('field_type', { param: 'input', found: shown(input, encoding), expected });
  }
  if (input.length === 0) throw invalid('`input` is an empty array. Send at least one item.');
  input.forEach((item: unknown, at) => {
    checkItem(item, `input[${at}]`, encoding);
  });
}

function checkPrompt(prompt: unknown, encoding: TextEncoding): void {
  if (isFields(prompt) && typeof prompt.id === 'string') return;
  const expected = 'an object with the `id` of a stored prompt';
  throw gatewayError('field_type', { param: 'prompt', found: shown(prompt, encoding), expected });
}

function checkItem(item: unknown, place: string, encoding: TextEncoding): void {
  if (!isFields(item)) throw invalid(`${place} is ${shown(item, encoding)}, but must be an object.`);
  checkInnerNames(item, () => place, encoding);
  const { type } = item;
  if (type !== undefined && type !== null && typeof type !== 'string')
    throw wrong(item, place, 'type', 'a string', encoding);
  if (isReference(item)) {
    throw invalid(
      `${place} refers to a stored item, but Lodestone stores no responses. Send the whole conversation in \`input\`.`,
    );
  }
  toolsInItem(item).forEach((tool, at) => {
    checkInnerNames(tool, () => `${place}.tools[${at}]`, encoding);
  });
  switch (type ?? 'message') {
    case 'message':
      checkMessage(item, place, encoding);
      break;
    case 'function_call':
      for (const name of callTexts) checkText(item, place, name, encoding);
      break;
    case 'function_call_output':
      checkText(item, place, 'call_id', encoding);
      checkContent(item, place, 'output', encoding);
      break;
  }
}

/** The type of a reference may be left out; a message without a type has a role. */
function isReference({ type, id, role }: Fields): boolean {
  if (type === 'item_reference') return true;
  return (type === undefined || type === null) && typeof id === 'string' && role === undefined;
}

function checkMessage(item: Fields, place: string, encoding: TextEncoding): void {
  const { role } = item;
  if (role === undefined && item.type !== 'message') throw invalid(`${place} has neither a \`type\` nor a \`role\`.`);
  if (typeof role !== 'string' || !roles.includes(role)) {
    throw wrong(item, place, 'role', 'user, assistant, system or developer', encoding);
  }
  checkContent(item, place, 'content', encoding);
}

/** Text, or parts. */
function checkContent(item: Fields, place: string, name: 'content' | 'output', encoding: TextEncoding): void {
  const content = item[name];
  if (typeof content === 'string') return;
  if (!Array.isArray(content)) throw wrong(item, place, name, 'a string or an array of parts', encoding);
  content.forEach((part: unknown, at) => {
    checkPart(part, `${place}.${name}[${at}]`, encoding);
  });
}

/** What holds the content of a part; one of them is enough. */
const held = {
  text: ['text'],
  input_text: ['text'],
  output_text: ['text'],
  refusal: ['refusal'],
  input_image: ['image_url', 'file_id'],
  input_file: ['file_data', 'file_url', 'file_id'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

const { text, input_text, output_text, refusal } = held;
/** A scan leaves parts of other types, and files that the provider keeps, to the parser. */
const part = typedObject(
  { text, input_text, output_text, refusal, reasoning_text: ['text'], input_image: ['image_url'] },
  { text: aText(0), image_url: aText(0), file_id: unusual, refusal: aText(0) },
);

function checkPart(part: unknown, place: string, encoding: TextEncoding): void {
  if (!isFields(part)) throw invalid(`${place} is ${shown(part, encoding)}, but must be an object.`);
  checkInnerNames(part, () => place, encoding);
  if (typeof part.type !== 'string') throw wrong(part, place, 'type', 'a string', encoding);
  const names = entryOf<readonly string[]>(held, part.type);
  const name = names?.find((each) => part[each] !== undefined && part[each] !== null);
  if (names && name === undefined) throw invalid(`${place} has no \`${names.join('`, no `')}\`.`);
  if (name !== undefined) checkText(part, place, name, encoding);
}

function checkText(item: Fields, place: string, name: string, encoding: TextEncoding): void {
  if (typeof item[name] !== 'string') throw wrong(item, place, name, 'a string', encoding);
}

function wrong(item: Fields, place: string, name: string, expected: string, encoding: TextEncoding): Error {
  const value = item[name];
  if (value === undefined) return invalid(`${place} has no \`${name}\`, which must be ${expected}.`);
  return invalid(`${place}.${name} is ${shown(value, encoding)}, but must be ${expected}.`);
}

function invalid(what: string): Error {
  return gatewayError('request_invalid', { param: 'input', what });
}
