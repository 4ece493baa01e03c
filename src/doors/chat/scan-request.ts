/**
 * Reads the usual chat completions request in one pass over its text: checks that it is valid JSON and a valid request, and cuts out
 * what goes to the provider. It returns null for anything unusual, and for everything that is not valid: `readRequest` then parses
 * the body, and is the one that refuses. Both give the same result for every body that this one takes.
 */

import { decodeOnce } from '../../base/latin1.js';
import { type ChatRequest, modelIdMax, type RefusableParameter } from '../../wire/chat-request.js';
import { JsonScanner, SeenNames } from '../../wire/json-scanner.js';
import { nestingMax } from '../../wire/json-text.js';
import { partialBits, partialBitsOf, plainFields } from '../../wire/partial-fields.js';
import { oneOf, scanEntries } from '../../wire/scan-object.js';
import { isOrdinaryTier } from '../../wire/usage.js';
import { isLowerCase } from '../field-table.js';
import { cacheKeyMax } from '../routing-fields.js';
import { RequestObject } from '../scanned-request.js';
import { chatFields } from './fields.js';
import { scanMessages, stopSequencesMax } from './messages.js';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;

/** Names that have a rule. */
const ruledNames = [
  'model',
  'messages',
  'stream',
  'stream_options',
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'stop',
  'logprobs',
  'response_format',
  'logit_bias',
  'tools',
  'service_tier',
  'prompt_cache_key',
] as const;
type RuledName = (typeof ruledNames)[number];
const names = new SeenNames(ruledNames);

/** What one pass has found; used again for the next request. */
const json = new JsonScanner();
let model = '';
let stream = false;
let streamOptions: Record<string, unknown> | null = null;
let needs: readonly RefusableParameter[] | null = null;
let maxTokens: number | null = null;
let maxCompletionTokens: number | null = null;
let choices: number | null = null;
let cacheKey: string | null = null;
let partial = 0;

const noNeeds: readonly RefusableParameter[] = [];

export function scanRequest(bytes: Buffer): ChatRequest | null {
  if (!json.open(bytes)) return null;
  names.clear();
  model = '';
  stream = false;
  partial = 0;
  streamOptions = needs = maxTokens = maxCompletionTokens = choices = cacheKey = null;
  const members = scanFields();
  json.close();
  if (members === null || model === '' || !names.has('messages')) return null;
  // Members that are absent are undefined: to spread them in where they are there takes four times as long as the whole scan.
  return {
    outputMax: maxCompletionTokens ?? maxTokens ?? undefined,
    choices: choices ?? undefined,
    cacheKey: cacheKey ?? undefined,
    model,
    stream,
    includeUsage: includesUsage(streamOptions),
    needs: needs ?? noNeeds,
    responseFormat: null,
    fallback: null,
    members,
    streamOptionMembers: otherOptions(streamOptions),
    encoding: 'latin1',
    partial,
  };
}

const includesUsage = (options: Record<string, unknown> | null): boolean => options?.include_usage === true;

function otherOptions(options: Record<string, unknown> | null): string {
  return options ? JSON.stringify({ ...options, include_usage: undefined }).slice(1, -1) : '';
}

/** The text of all members that are sent on; neighbours stay one piece. null where the body is unusual. */
function scanFields(): string | null {
  if (!json.take(openBrace)) return null;
  let members = '';
  let pieceStart = -1;
  for (;;) {
    json.peek();
    const start = json.at;
    const key = json.takeKey();
    if (key === -1) return null;
    const name = json.text.slice(key, json.keyEnd);
    if (!names.add(name)) return null;
    const field = scanField(name as RuledName);
    if (field === null) return null;
    if (field === 'kept' && pieceStart === -1) pieceStart = start;
    if (field === 'dropped' && pieceStart !== -1) {
      members = joined(members, pieceStart, json.text.lastIndexOf(',', start));
      pieceStart = -1;
    }
    const next = json.takeNext(closeBrace);
    if (next === 'more') continue;
    const end = json.at - 1;
    if (next === null || !Number.isNaN(json.peek())) return null;
    return pieceStart === -1 ? members : joined(members, pieceStart, end);
  }
}

function joined(members: string, from: number, to: number): string {
  const piece = json.text.slice(from, to);
  return members === '' ? piece : `${members},${piece}`;
}

/** Checks one field like `checkField`. null where it is unusual or not valid. */
function scanField(name: RuledName): 'kept' | 'dropped' | null {
  switch (name) {
    case 'model':
      return scanModel();
    case 'messages':
      return scanConversation() ? 'kept' : null;
    case 'stream':
      stream = json.peek() === 0x74;
      return json.takeWord('true') || json.takeWord('false') ? 'dropped' : null;
    case 'stream_options':
      return scanStreamOptions();
    case 'temperature':
      return scanNumber(name, 0, 2) ? 'kept' : null;
    case 'top_p':
      return scanNumber(name, 0, 1) ? 'kept' : null;
    case 'frequency_penalty':
    case 'presence_penalty':
      return scanNumber(name, -2, 2) ? 'kept' : null;
    case 'max_tokens':
      maxTokens = json.takeNumber();
      return isCount(maxTokens) ? 'kept' : null;
    case 'max_completion_tokens':
      maxCompletionTokens = json.takeNumber();
      return isCount(maxCompletionTokens) ? 'kept' : null;
    case 'n':
      return scanN();
    case 'stop':
      return scanStop() ? 'kept' : null;
    case 'logprobs':
      return scanLogprobs();
    case 'tools':
      return scanTools() ? 'kept' : null;
    case 'service_tier':
      return scanTier() ? 'kept' : null;
    case 'prompt_cache_key':
      return scanCacheKey() ? 'kept' : null;
    case 'response_format':
    case 'logit_bias':
      return null;
    default:
      return scanOther(name) ? 'kept' : null;
  }
}

function scanModel(): 'dropped' | null {
  const start = json.takePlainString();
  if (start === -1 || json.at - start > modelIdMax) return null;
  model = decodeOnce(json.text.slice(start, json.at - 1));
  return 'dropped';
}

const streamOptionsMax = 4096;

function scanStreamOptions(): 'dropped' | null {
  if (json.peek() !== openBrace) return null;
  const start = json.at;
  if (!json.skipValue(nestingMax - 1) || json.at - start > streamOptionsMax) return null;
  streamOptions = JSON.parse(json.text.slice(start, json.at)) as Record<string, unknown>;
  for (const name in streamOptions) if (name !== 'include_usage' && !isLowerCase(name)) return null;
  return 'dropped';
}

function scanConversation(): boolean {
  const found = scanMessages(json);
  if (found === 'parts') partial |= partialBits.cache_control;
  return found !== null;
}

function scanNumber(name: string, low: number, high: number): boolean {
  const value = json.takeNumber();
  if (!(value >= low && value <= high)) return false;
  partial |= partialBitsOf(name, value);
  return true;
}

/** Fields without a rule of which only some providers know what they mean. */
const hints: ReadonlySet<string> = new Set([...plainFields, ...['metadata', 'store', 'parallel_tool_calls']]);

/** A longer hint asks for something, whatever it says. */
const hintMax = 64;
/** Longer ones are left to the parser, which counts what it reads. */
const metadataMax = 64 * 1024;

function scanOther(name: string): boolean {
  if (!hints.has(name)) return chatFields.isUsual(name) && json.skipValue(nestingMax - 1);
  const code = json.peek();
  const start = json.at;
  if (!json.skipValue(nestingMax - 1)) return false;
  const length = json.at - start;
  if (name === 'metadata' && length > metadataMax) return false;
  const isShort = length <= hintMax && code !== openBrace;
  const value = isShort || name === 'metadata' ? JSON.parse(json.text.slice(start, json.at)) : true;
  partial |= partialBitsOf(name, value);
  return true;
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}

/** One answer is what a provider gives anyway. */
function scanN(): 'kept' | 'dropped' | null {
  const value = json.takeNumber();
  if (!isCount(value)) return null;
  if (value === 1) return 'dropped';
  choices = value;
  needs = [...(needs ?? noNeeds), 'n'];
  return 'kept';
}

function scanLogprobs(): 'kept' | 'dropped' | null {
  json.peek();
  if (json.takeWord('false')) return 'dropped';
  if (!json.takeWord('true')) return null;
  needs = [...(needs ?? noNeeds), 'logprobs'];
  return 'kept';
}

/** A function runs at the client, and needs no price. */
const tool = new RequestObject({ type: oneOf({ function: 1 }) });

function scanTools(): boolean {
  partial |= partialBits.cache_control;
  return scanEntries(json, nestingMax - 1, scanTool) !== -1;
}

function scanTool(scanner: JsonScanner, levels: number): number {
  return tool.scan(scanner, levels) === 1 ? 0 : -1;
}

function scanTier(): boolean {
  const start = json.takePlainString();
  return start !== -1 && isOrdinaryTier(json.text.slice(start, json.at - 1));
}

const plainCharacters = /^[\x20-\x7e]+$/;

function scanCacheKey(): boolean {
  const start = json.takePlainString();
  const text = start === -1 ? '' : json.text.slice(start, json.at - 1);
  if (text.length > cacheKeyMax || !plainCharacters.test(text)) return false;
  cacheKey = text;
  partial |= partialBits.prompt_cache_key;
  return true;
}

function scanStop(): boolean {
  const code = json.peek();
  const start = json.at;
  if (code === quote) {
    if (!json.skipString()) return false;
    if (json.at > start + 2) partial |= partialBits.stop;
    return true;
  }
  if (!json.take(openBracket)) return false;
  if (json.take(closeBracket)) return true;
  partial |= partialBits.stop;
  for (let count = 1; count <= stopSequencesMax; count++) {
    if (json.peek() !== quote || !json.skipString()) return false;
    const next = json.takeNext(closeBracket);
    if (next !== 'more') return next === 'end';
  }
  return false;
}
