/**
 * Takes the usual completion apart in one pass over its text, without parsing it. It returns null for anything unusual, for an answer
 * that has to be changed for OpenAI's clients, and for everything that is not valid: `parseCompletion` then reads it. Both give the
 * same parts for every answer that this one takes.
 */
import { asLatin1 } from '../../../base/latin1.js';
import { figuresBytesMax } from '../../../wire/answer-bounds.js';
import type { CompletionParts } from '../../../wire/completion-parts.js';
import { JsonScanner, SeenNames } from '../../../wire/json-scanner.js';
import { isEmptyUsage, readUsage } from '../../../wire/usage.js';
import type { UsageTerms } from '../../../wire/usage-types.js';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const levelsMax = 64;

const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const;

/** What one pass has found; used again for the next answer. */
const json = new JsonScanner();
const memberNames = new SeenNames([
  'choices',
  'usage',
  'model',
  'system_fingerprint',
  'id',
  'object',
  'created',
  'service_tier',
]);
const choiceNames = new SeenNames(['index', 'message', 'finish_reason', 'logprobs']);
const messageNames = new SeenNames(['role', 'content', 'refusal', 'annotations', 'tool_calls']);
const callNames = new SeenNames(['id', 'type', 'function', 'index']);
const functionNames = new SeenNames(['name', 'arguments']);
let finishReason: string | null = null;
let model: string | undefined;
let usageText = '';
let tier: string | undefined;

export function scanCompletion(body: Buffer, terms: UsageTerms): CompletionParts | null {
  if (!json.open(body)) return null;
  memberNames.clear();
  finishReason = null;
  model = undefined;
  usageText = '';
  tier = undefined;
  const members = scanMembers();
  json.close();
  if (members === null || finishReason === null || usageText === '') return null;
  const usage: unknown = JSON.parse(usageText);
  const reading = readUsage(usage, terms, tier);
  // Without usage the text of the answer is counted.
  if (isEmptyUsage(reading)) return null;
  return {
    members: memberNames.has('system_fingerprint') ? members : `${members},"system_fingerprint":null`,
    encoding: 'latin1',
    usage,
    reading,
    usageText,
    answeredModel: model,
    finishReason,
    delivered: asLatin1(''),
  };
}

/** The text of the members that are passed on; neighbours stay one piece. null where the answer is unusual. */
function scanMembers(): string | null {
  if (!json.take(openBrace)) return null;
  let members = '';
  let pieceStart = -1;
  for (;;) {
    json.peek();
    const start = json.at;
    const key = json.takeKey();
    if (key === -1) return null;
    const name = json.text.slice(key, json.keyEnd);
    if (!memberNames.add(name) || !scanMember(name)) return null;
    const isKept = isPassedOn(name);
    if (isKept && pieceStart === -1) pieceStart = start;
    if (!isKept && pieceStart !== -1) {
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

function scanMember(name: string): boolean {
  switch (name) {
    case 'choices':
      return scanList(scanChoice);
    case 'model':
      return scanModel();
    case 'usage':
      return scanUsage();
    case 'service_tier':
      return scanTier();
    case 'error':
      json.peek();
      return json.takeWord('null');
    default:
      return json.skipValue(levelsMax);
  }
}

function scanModel(): boolean {
  const start = json.takePlainString();
  if (start === -1 || json.at - start > figuresBytesMax) return false;
  model = json.text.slice(start, json.at - 1);
  return true;
}

function scanTier(): boolean {
  if (json.peek() !== quote) return json.takeWord('null');
  const start = json.takePlainString();
  if (start === -1 || json.at - start > figuresBytesMax) return false;
  tier = json.text.slice(start, json.at - 1);
  return true;
}

function scanUsage(): boolean {
  if (json.peek() !== openBrace) return false;
  const start = json.at;
  if (!json.skipValue(levelsMax)) return false;
  usageText = json.text.slice(start, json.at);
  return usageText.length <= figuresBytesMax;
}

/** An array with at least one entry. */
function scanList(scanEntry: () => boolean): boolean {
  if (!json.take(openBracket)) return false;
  for (;;) {
    if (!scanEntry()) return false;
    const next = json.takeNext(closeBracket);
    if (next !== 'more') return next === 'end';
  }
}

/** An object whose members are all known and come once each, and of which some are there. */
function scanObject(names: SeenNames, scanNamed: (name: string) => boolean, needed: readonly string[]): boolean {
  names.clear();
  if (!json.take(openBrace)) return false;
  for (;;) {
    const key = json.takeKey();
    if (key === -1) return false;
    const name = json.text.slice(key, json.keyEnd);
    if (!names.add(name) || !scanNamed(name)) return false;
    const next = json.takeNext(closeBrace);
    if (next === 'more') continue;
    if (next === null) return false;
    for (const member of needed) if (!names.has(member)) return false;
    return true;
  }
}

const neededInChoice = ['index', 'message', 'finish_reason'];
const neededInMessage = ['role', 'content'];
const neededInCall = ['id', 'type', 'function'];
const neededInFunction = ['arguments'];

const scanChoice = (): boolean => scanObject(choiceNames, scanChoiceMember, neededInChoice);
const scanCall = (): boolean => scanObject(callNames, scanCallMember, neededInCall);

function scanChoiceMember(name: string): boolean {
  switch (name) {
    case 'index':
      return Number.isInteger(json.takeNumber());
    case 'message':
      return scanObject(messageNames, scanMessageMember, neededInMessage);
    case 'finish_reason':
      return scanFinishReason();
    case 'logprobs':
    case 'content_filter_results':
    case 'stop_reason':
      return json.skipValue(levelsMax);
    default:
      return false;
  }
}

/** The reason of the first choice is that of the answer. */
function scanFinishReason(): boolean {
  const start = json.takePlainString();
  const reason = start === -1 ? null : json.nameAt(finishReasons, start, json.at - 1);
  finishReason ??= reason;
  return reason !== null;
}

function scanMessageMember(name: string): boolean {
  const code = json.peek();
  switch (name) {
    case 'role':
      return json.takeWord('"assistant"');
    case 'content':
      return code === quote ? json.skipString() : json.takeWord('null');
    case 'refusal':
    case 'annotations':
      return json.skipValue(levelsMax);
    case 'tool_calls':
      return code === openBracket ? scanList(scanCall) : json.takeWord('null');
    // These may have to be changed where they hold something.
    case 'audio':
    case 'function_call':
    case 'reasoning':
    case 'reasoning_content':
      return json.takeWord('null');
    default:
      return false;
  }
}

function scanCallMember(name: string): boolean {
  const code = json.peek();
  if (name === 'index') return json.skipValue(0);
  if (name === 'function') return scanObject(functionNames, scanFunctionMember, neededInFunction);
  return (name === 'id' || name === 'type') && code === quote && !json.takeWord('""') && json.skipString();
}

/** Arguments that are empty, or not text, are written anew. */
function scanFunctionMember(name: string): boolean {
  if (json.peek() !== quote) return false;
  return (
    (name === 'name' || (name === 'arguments' && json.text.charCodeAt(json.at + 1) === openBrace)) && json.skipString()
  );
}

/** `error` is dropped because it is empty here, and clients would take it for a failure. */
const replaced = new Set(['id', 'object', 'created', 'model', 'usage', 'router_metadata', 'error']);

export function isPassedOn(key: string): boolean {
  return !replaced.has(key);
}
