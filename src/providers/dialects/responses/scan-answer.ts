/**
 * Reads the usual response for a native pass in one pass over its text, without parsing it. It returns null for anything unusual and for
 * everything that is not valid: `readResponse` then reads it, and gives the same for every response that this one takes.
 */
import type { CompletionParts } from '../../../wire/completion-parts.js';
import type { JsonScanner } from '../../../wire/json-scanner.js';
import { ObjectScan, oneOf, scanEntries } from '../../../wire/scan-object.js';
import type { UsageTerms } from '../../../wire/usage-types.js';
import { AnswerScan } from '../chat-parts/scanned-answer.js';

const quote = 0x22;
const isItem = 1;
const isCall = 2;

/** Items of other types may be calls of tools that ran at the provider, which are counted. */
const item = new ObjectScan({
  type: oneOf({ message: isItem, reasoning: isItem, function_call: isCall, custom_tool_call: isCall }),
});

/** Searches are counted. */
const toolUsage = new ObjectScan({
  web_search: new ObjectScan({ num_requests: (json) => (isZero(json) ? 0 : -1) }).scan,
});

/** What one pass has found; used again for the next response. */
let calledTools = false;
let tier: string | undefined;

const response = new AnswerScan({
  // At most 29 beside those that every answer has.
  names: [
    ...['id', 'object', 'created_at', 'completed_at', 'status', 'background', 'error', 'incomplete_details', 'output'],
    ...['instructions', 'max_output_tokens', 'max_tool_calls', 'parallel_tool_calls', 'previous_response_id', 'store'],
    ...['reasoning', 'service_tier', 'temperature', 'text', 'tool_choice', 'tools', 'top_logprobs', 'top_p', 'user'],
    ...['truncation', 'metadata', 'prompt_cache_key', 'safety_identifier', 'tool_usage'],
  ],
  needed: ['status', 'output'],
  begin: () => {
    calledTools = false;
    tier = undefined;
  },
  scanMember,
  usageOf: (usage) => {
    if (tier !== undefined) usage.service_tier = tier;
    return usage;
  },
  finishReason: () => (calledTools ? 'tool_calls' : 'stop'),
});

export function scanResponse(body: Buffer, terms: UsageTerms): CompletionParts | null {
  return response.scan(body, terms);
}

function scanMember(name: string, json: JsonScanner, levels: number): boolean {
  switch (name) {
    case 'status':
      json.peek();
      return json.takeWord('"completed"');
    case 'output':
      return scanEntries(json, levels, scanItem) !== -1;
    case 'tool_usage':
      return toolUsage.scan(json, levels) !== -1;
    case 'service_tier': {
      if (json.peek() !== quote) return json.takeWord('null');
      const start = json.takePlainString();
      if (start !== -1) tier = json.text.slice(start, json.at - 1);
      return start !== -1;
    }
    default:
      return json.skipValue(levels);
  }
}

function isZero(json: JsonScanner): boolean {
  json.peek();
  return json.takeWord('0');
}

function scanItem(json: JsonScanner, levels: number): number {
  const found = item.scan(json, levels);
  if (found === isCall) calledTools = true;
  return found;
}
