/**
 * Reads the usual message for a native pass in one pass over its text, without parsing it. It returns null for anything unusual and for
 * everything that is not valid: `readAnswer` then reads it, and gives the same for every message that this one takes.
 */
import type { CompletionParts } from '../../../wire/completion-parts.js';
import type { JsonScanner } from '../../../wire/json-scanner.js';
import { aText, ObjectScan, scanEntries } from '../../../wire/scan-object.js';
import type { UsageTerms } from '../../../wire/usage-types.js';
import { AnswerScan } from '../chat-parts/scanned-answer.js';
import { finishReasonOf, usageOf } from './usage.js';

const isCall = 1;
const isNamed = 2;

/** Of a block only the type matters here, and whether it is a call that can be executed. */
const block = new ObjectScan({ type: scanType, name: aText(isNamed) });

/** What one pass has found; used again for the next message. */
let calledTools = false;
let stopReason = '';

const message = new AnswerScan({
  names: ['id', 'type', 'role', 'content', 'stop_reason', 'stop_sequence', 'error'],
  needed: ['type', 'content', 'stop_reason'],
  begin: () => {
    calledTools = false;
    stopReason = '';
  },
  scanMember,
  usageOf,
  finishReason: () => finishReasonOf(stopReason, calledTools),
});

export function scanMessage(body: Buffer, terms: UsageTerms): CompletionParts | null {
  return message.scan(body, terms);
}

function scanMember(name: string, json: JsonScanner, levels: number): boolean {
  switch (name) {
    case 'type':
      json.peek();
      return json.takeWord('"message"');
    case 'content':
      return scanContent(json, levels);
    case 'stop_reason': {
      const start = json.takePlainString();
      if (start !== -1) stopReason = json.text.slice(start, json.at - 1);
      return start !== -1;
    }
    default:
      return json.skipValue(levels);
  }
}

function scanContent(json: JsonScanner, levels: number): boolean {
  return scanEntries(json, levels, scanBlock) !== -1;
}

function scanBlock(json: JsonScanner, levels: number): number {
  const found = block.scan(json, levels);
  if (found === (isCall | isNamed)) calledTools = true;
  return found;
}

function scanType(json: JsonScanner): number {
  const start = json.takePlainString();
  if (start === -1) return -1;
  return json.at - 1 - start === 'tool_use'.length && json.text.startsWith('tool_use', start) ? isCall : 0;
}
