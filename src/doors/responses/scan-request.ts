/**
 * Reads the usual Responses request in one pass over its text: checks that it is valid JSON and a valid request. It returns null for
 * anything unusual, and for everything that is not valid: `readResponsesRequest` then parses the body, and is the one that refuses. Both
 * give the same result for every body that this one takes.
 */
import type { JsonScanner } from '../../wire/json-scanner.js';
import {
  anObject,
  anyValue,
  aText,
  oneOf,
  scanEntries,
  someText,
  takeBoolean,
  takeObject,
  takeText,
  type ValueScan,
} from '../../wire/scan-object.js';
import { cacheKeyMax } from '../routing-fields.js';
import {
  RequestObject,
  RequestScan,
  type ScannedBody,
  takeLimit,
  takeOrdinaryTier,
  takeRange,
} from '../scanned-request.js';
import { responsesFields } from './fields.js';

const openBrace = 0x7b;

export interface ScannedResponses {
  readonly body: ScannedBody;
  readonly maxOutputTokens: number | undefined;
  readonly cacheKey: string | undefined;
  /** The client sends signed reasoning back. */
  readonly keepsReasoning: boolean;
  /** The body says that nothing is to be stored. */
  readonly saysStore: boolean;
}

/** What one pass has found; used again for the next request. */
let maxOutputTokens: number | undefined;
let cacheKey: string | undefined;
let keepsReasoning = false;

const request = new RequestScan(
  [
    ...[
      'input',
      'instructions',
      'max_output_tokens',
      'temperature',
      'top_p',
      'store',
      'background',
      'tools',
      'include',
    ],
    ...['parallel_tool_calls', 'reasoning', 'text', 'metadata', 'service_tier', 'truncation', 'user', 'tool_choice'],
    ...['safety_identifier', 'prompt_cache_key', 'max_tool_calls'],
  ],
  scanMember,
);

export function scanResponsesRequest(bytes: Buffer): ScannedResponses | null {
  maxOutputTokens = cacheKey = undefined;
  keepsReasoning = false;
  const body = request.scan(bytes);
  if (body === null || !request.has('input')) return null;
  return { body, maxOutputTokens, cacheKey, keepsReasoning, saysStore: request.has('store') };
}

function scanMember(name: string, json: JsonScanner, levels: number): boolean {
  switch (name) {
    case 'input':
      return takeText(json) || scanEntries(json, levels, scanItem) !== -1;
    case 'max_output_tokens':
      maxOutputTokens = takeLimit(json);
      return maxOutputTokens !== undefined;
    case 'temperature':
      return takeRange(json, 2);
    case 'top_p':
      return takeRange(json, 1);
    // Where these are true, something would have to be stored.
    case 'store':
    case 'background':
      json.peek();
      return json.takeWord('false');
    case 'parallel_tool_calls':
      return takeBoolean(json);
    case 'instructions':
    case 'truncation':
    case 'user':
    case 'safety_identifier':
      return takeText(json);
    case 'prompt_cache_key':
      return scanCacheKey(json);
    case 'service_tier':
      return takeOrdinaryTier(json);
    case 'max_tool_calls':
      return takeLimit(json) !== undefined;
    case 'metadata':
      return takeObject(json, levels);
    case 'reasoning':
      return reasoning.scan(json, levels) !== -1;
    case 'text':
      return text.scan(json, levels) !== -1;
    case 'include':
      return scanEntries(json, levels, scanIncluded) !== -1;
    case 'tools':
      return scanEntries(json, levels, scanTool) !== -1;
    case 'tool_choice':
      return scanChoice(json, levels);
    default:
      return responsesFields.isUsual(name) && json.skipValue(levels);
  }
}

const reasoning = new RequestObject({ effort: aText(0), summary: aText(0) });
const text = new RequestObject({ verbosity: aText(0), format: () => -1 });

const plainCharacters = /^[\x20-\x7e]+$/;

function scanCacheKey(json: JsonScanner): boolean {
  const start = json.takePlainString();
  const key = start === -1 ? '' : json.text.slice(start, json.at - 1);
  if (key.length > cacheKeyMax || !plainCharacters.test(key)) return false;
  cacheKey = key;
  return true;
}

function scanIncluded(json: JsonScanner): number {
  const start = json.takePlainString();
  if (start === -1) return -1;
  if (json.text.slice(start, json.at - 1) === 'reasoning.encrypted_content') keepsReasoning = true;
  return 0;
}

/** Members of items and parts that have the type that they need. One of another type is unusual. */
const hasRole = 1 << 0;
const hasContent = 1 << 1;
const hasCallId = 1 << 2;
const hasName = 1 << 3;
const hasArguments = 1 << 4;
const hasOutput = 1 << 5;
const hasText = 1 << 6;
const hasImage = 1 << 7;
const hasRefusal = 1 << 8;
/** What an item or a part is. */
const isMessage = 1 << 16;
const isCall = 1 << 17;
const isOutput = 1 << 18;
const isOther = 1 << 19;
const isText = 1 << 20;
const isImage = 1 << 21;
const isRefusal = 1 << 22;

/** Each type of item or part with what it needs. */
const needed: readonly (readonly [type: number, members: number])[] = [
  [isMessage, hasRole | hasContent],
  [isCall, hasCallId | hasName | hasArguments],
  [isOutput, hasCallId | hasOutput],
  [isOther, 0],
  [isText, hasText],
  [isImage, hasImage],
  [isRefusal, hasRefusal],
];

/** 0 where what was found has what its type needs. */
function completeOf(found: number): number {
  if (found === -1) return -1;
  for (const [type, members] of needed) {
    if ((found & type) !== 0) return (found & members) === members ? 0 : -1;
  }
  return -1;
}

/** Text, or at least one part. */
const content =
  (bit: number): ValueScan =>
  (json, levels) =>
    takeText(json) || scanEntries(json, levels, scanPart) !== -1 ? bit : -1;

const item = new RequestObject({
  type: oneOf({
    ...{ message: isMessage, function_call: isCall, function_call_output: isOutput },
    ...{ reasoning: isOther, custom_tool_call: isOther, custom_tool_call_output: isOther },
  }),
  role: oneOf({ user: hasRole, assistant: hasRole, system: hasRole, developer: hasRole }),
  content: content(hasContent),
  call_id: aText(hasCallId),
  name: aText(hasName),
  arguments: aText(hasArguments),
  output: content(hasOutput),
});

/** A message may come without a type. */
function scanItem(json: JsonScanner, levels: number): number {
  const found = item.scan(json, levels);
  const hasType = (found & (isMessage | isCall | isOutput | isOther)) !== 0;
  return completeOf(found === -1 || hasType ? found : found | isMessage);
}

const part = new RequestObject({
  type: oneOf({
    ...{ input_text: isText, output_text: isText, text: isText, reasoning_text: isText },
    ...{ input_image: isImage, refusal: isRefusal },
  }),
  text: aText(hasText),
  image_url: aText(hasImage),
  // A file that the provider keeps.
  file_id: () => -1,
  refusal: aText(hasRefusal),
});

function scanPart(json: JsonScanner, levels: number): number {
  return completeOf(part.scan(json, levels));
}

const isFunction = 1 << 0;
const isCustom = 1 << 1;
const isNamed = 1 << 2;
/** Tools of other types may run at the provider, and have a price. */
const tool = new RequestObject({
  type: oneOf({ function: isFunction, custom: isCustom }),
  name: someText(isNamed),
  description: aText(0),
  parameters: anObject(0),
  strict: anyValue,
});

function scanTool(json: JsonScanner, levels: number): number {
  const found = tool.scan(json, levels);
  if (found === -1) return -1;
  return (found & isCustom) !== 0 || found === (isFunction | isNamed) ? 0 : -1;
}

const choice = new RequestObject({ type: oneOf({ function: isFunction }), name: aText(isNamed) });

function scanChoice(json: JsonScanner, levels: number): boolean {
  if (json.peek() !== openBrace) return takeText(json);
  return choice.scan(json, levels) === (isFunction | isNamed);
}
