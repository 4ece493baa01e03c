/**
 * Reads the usual Messages request in one pass over its text: checks that it is valid JSON and a valid request. It returns null for
 * anything unusual, and for everything that is not valid: `readMessagesRequest` then parses the body, and is the one that refuses. Both
 * give the same result for every body that this one takes.
 */
import type { JsonScanner } from '../../wire/json-scanner.js';
import {
  anObject,
  aText,
  oneOf,
  scanEntries,
  someText,
  takeObject,
  takeText,
  takeTexts,
} from '../../wire/scan-object.js';
import {
  RequestObject,
  RequestScan,
  type ScannedBody,
  takeLimit,
  takeOrdinaryTier,
  takeRange,
} from '../scanned-request.js';
import { messagesFields } from './fields.js';
import { scanBlocks } from './scan-blocks.js';

export interface ScannedMessages {
  readonly body: ScannedBody;
  readonly maxTokens: number | undefined;
  /** `output_config.effort` was sent. */
  readonly hasEffort: boolean;
}

/** What one pass has found; used again for the next request. */
let maxTokens: number | undefined;
let hasEffort = false;

const request = new RequestScan(
  [
    ...['messages', 'system', 'max_tokens', 'temperature', 'top_p', 'top_k', 'stop_sequences', 'tools', 'tool_choice'],
    ...['metadata', 'thinking', 'output_config', 'context_management', 'service_tier', 'cache_control'],
  ],
  scanMember,
);

export function scanMessagesRequest(bytes: Buffer, needsLimit: boolean): ScannedMessages | null {
  maxTokens = undefined;
  hasEffort = false;
  const body = request.scan(bytes);
  if (body === null || !request.has('messages') || (needsLimit && maxTokens === undefined)) return null;
  return { body, maxTokens, hasEffort };
}

function scanMember(name: string, json: JsonScanner, levels: number): boolean {
  switch (name) {
    case 'messages':
      return scanEntries(json, levels, scanMessage) !== -1;
    case 'system':
      return takeText(json) || scanBlocks(json, levels) !== -1;
    case 'max_tokens':
      maxTokens = takeLimit(json);
      return maxTokens !== undefined;
    case 'temperature':
    case 'top_p':
      return takeRange(json, 1);
    case 'top_k':
      return takeRange(json, Number.MAX_SAFE_INTEGER);
    case 'stop_sequences':
      return takeTexts(json);
    case 'tools':
      return scanEntries(json, levels, scanTool) !== -1;
    case 'tool_choice':
      return scanChoice(json, levels);
    case 'metadata':
      return metadata.scan(json, levels) !== -1;
    case 'thinking':
      return thinking.scan(json, levels) !== -1;
    case 'output_config':
      return scanOutput(json, levels);
    case 'context_management':
      return takeObject(json, levels);
    case 'service_tier':
      return takeOrdinaryTier(json);
    // Only the parser reads it.
    case 'prompt_cache_key':
      return false;
    default:
      return messagesFields.isUsual(name) && json.skipValue(levels);
  }
}

const hasRole = 1;
const hasContent = 2;
const message = new RequestObject({
  role: oneOf({ user: hasRole, assistant: hasRole, system: hasRole }),
  content: (json, levels) => (takeText(json) || scanBlocks(json, levels) !== -1 ? hasContent : -1),
});

function scanMessage(json: JsonScanner, levels: number): number {
  return message.scan(json, levels) === (hasRole | hasContent) ? 0 : -1;
}

const hasName = 1;
const hasSchema = 2;
/** A function of the client. Tools of other types may run at the provider, and have a price. */
const tool = new RequestObject({
  type: oneOf({ custom: 0 }),
  name: someText(hasName),
  description: aText(0),
  input_schema: anObject(hasSchema),
});

function scanTool(json: JsonScanner, levels: number): number {
  return tool.scan(json, levels) === (hasName | hasSchema) ? 0 : -1;
}

const isOther = 2;
const isTool = 4;
const choice = new RequestObject({
  type: oneOf({ auto: isOther, any: isOther, none: isOther, tool: isTool }),
  name: aText(hasName),
});

function scanChoice(json: JsonScanner, levels: number): boolean {
  const found = choice.scan(json, levels);
  return found !== -1 && ((found & isOther) !== 0 || found === (isTool | hasName));
}

const metadata = new RequestObject({ user_id: aText(0) });
const thinking = new RequestObject({
  type: aText(0),
  budget_tokens: (json) => (Number.isNaN(json.takeNumber()) ? -1 : 0),
});

const effortBit = 1;
const output = new RequestObject({ effort: aText(effortBit), format: () => -1 });

function scanOutput(json: JsonScanner, levels: number): boolean {
  const found = output.scan(json, levels);
  hasEffort = found === effortBit;
  return found !== -1;
}
