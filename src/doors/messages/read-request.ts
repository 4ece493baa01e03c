/**
 * Reads a Messages request: checks it, keeps it for routes that speak the API, and translates it to the chat format for all others.
 * A null value counts as absent.
 */
import { encodeLatin1 } from '../../base/latin1.js';
import type { ChatRequest, Inexpressible, OptionalField, PricedExtras } from '../../wire/chat-request.js';
import { findMembers } from '../../wire/json-members.js';
import { nestingMax, tooDeep } from '../../wire/json-text.js';
import { withoutMembers } from '../../wire/splice-members.js';
import { isOrdinaryTier } from '../../wire/usage.js';
import {
  checkFallback,
  checkModel,
  type Fields,
  omit,
  type ParsedBody,
  parseBody,
  tooDeepError,
  withoutNulls,
} from '../body.js';
import { tierAsked } from '../chat/priced-extras.js';
import { refusal } from '../field-table.js';
import { leavableTools } from '../leavable-tools.js';
import { lodestoneFields, nativeBody } from '../native-body.js';
import { routingFieldsOf } from '../routing-fields.js';
import { RequestScan } from '../scanned-request.js';
import { storedInMessages } from '../stored-objects.js';
import { formsOf, hints, TranslatedRequest, type Translation } from '../translated-request.js';
import { checkDoor } from '../wrong-door.js';
import { hasEffort, messagesFields } from './fields.js';
import { checkMessages } from './messages.js';
import { type Translated, translateMessages } from './translate-messages.js';
import { allTools, hostedTools, optionalTool, translateTools } from './translate-tools.js';

export function readMessagesRequest(bytes: Buffer, large = false): ChatRequest {
  return readRequest(bytes, large, true);
}

export function readCountRequest(bytes: Buffer, large = false): ChatRequest {
  return readRequest(bytes, large, false);
}

/** The usual request is scanned, which gives the same as the parser; any other, and every one that is not valid, is parsed. */
function readRequest(bytes: Buffer, large: boolean, needsLimit: boolean): ChatRequest {
  return (large ? null : scanMessagesRequest(bytes, needsLimit)) ?? parseMessagesRequest(bytes, large, needsLimit);
}

class MessagesScan extends RequestScan {
  maxTokens: number | undefined;
  words = names;

  protected override take(name: string, value: unknown): void {
    if (name === 'max_tokens') this.maxTokens = value as number;
    else if (name === 'output_config' && ((value as number) & hasEffort) !== 0) this.words = namesWithEffort;
  }
}

/** null where the body is unusual, or not valid. */
export function scanMessagesRequest(bytes: Buffer, needsLimit: boolean): ChatRequest | null {
  const scan = new MessagesScan(messagesFields);
  if (!scan.scan(bytes) || !scan.has('messages') || (needsLimit && !scan.has('max_tokens'))) return null;
  const { text, modelStart, modelEnd, words } = scan;
  return new TranslatedRequest(
    scan.ownFields(scan.maxTokens, undefined),
    { api: 'messages', body: text, modelStart, modelEnd, names: words },
    (left) => translate(withoutNulls(JSON.parse(text) as Fields), left),
  );
}

export function parseMessagesRequest(bytes: Buffer, large: boolean, needsLimit: boolean): ChatRequest {
  const body = parseBody(bytes, large);
  const { text, encoding } = body;
  const given = withoutNulls(body.fields);
  const unset = unsetIn(given);
  const fields = omit(given, unset);
  const found = findMembers(text);
  if (found ? found.depth > nestingMax : tooDeep(fields)) throw tooDeepError();
  messagesFields.check(body.fields, encoding);
  const model = checkModel(fields.model, encoding);
  checkDoor(fields, 'messages');
  if (needsLimit && fields.max_tokens === undefined) {
    throw refusal('max_tokens', '`max_tokens` is missing. Say how many tokens the answer may have.');
  }
  messagesFields.checkValues(fields, encoding);
  checkMessages(fields, encoding);
  const { provider, sessionId, cacheKey } = routingFieldsOf(fields, encoding);
  const extras = extrasOf(fields);
  const {
    body: sent,
    modelStart,
    modelEnd,
  } = unset === undefined ? nativeBody(body, found) : nativeBodyWithout(body, unset);
  const output = fields.output_config as Fields | undefined;
  const hasFormat = formatOf(output?.format) !== undefined;
  return new TranslatedRequest(
    {
      model,
      stream: fields.stream === true,
      responseFormat: hasFormat ? 'json_schema' : null,
      fallback: checkFallback(fields.fallback, encoding),
      encoding,
      outputMax: fields.max_tokens as number | undefined,
      extras,
      provider,
      sessionId,
      cacheKey,
    },
    {
      api: 'messages',
      body: sent,
      modelStart,
      modelEnd,
      names: typeof output?.effort === 'string' ? namesWithEffort : names,
      unset,
    },
    (left) => translate(fields, left, unset),
    extras?.tools.length ? () => leavableTools(sent, fields.tools, optionalTool(fields)) : undefined,
  );
}

/** LangChain sends -1 for these where its user has not set them. Anthropic refuses it, so it can only mean that. */
const unsettable = ['top_p', 'top_k'];

/** undefined where there are none. */
function unsetIn(fields: Fields): readonly string[] | undefined {
  const unset = unsettable.filter((name) => fields[name] === -1);
  return unset.length > 0 ? unset : undefined;
}

function nativeBodyWithout({ text, encoding, fields }: ParsedBody, names: readonly string[]) {
  const left = withoutMembers(encoding === 'latin1' ? text : encodeLatin1(text), names);
  return nativeBody({ text: left, encoding: 'latin1', fields }, findMembers(left));
}

function extrasOf(fields: Fields): PricedExtras | undefined {
  const asked = tierAsked(fields);
  const all = allTools(fields);
  const tools = hostedTools(all);
  const stored = storedInMessages(fields, all);
  return asked.tier !== null || tools.length > 0 || stored ? { ...asked, tools, audio: false, stored } : undefined;
}

/** The client's names of chat fields that have another one. */
const names = {
  response_format: 'output_config.format',
  stop: 'stop_sequences',
  user: 'metadata',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  reasoning_effort: 'thinking',
};
const namesWithEffort = { ...names, reasoning_effort: 'output_config.effort' };

interface Notes {
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

/** Fields that are read above or below, or that ask for nothing of a route. */
const known = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
  ...['tools', 'tool_choice', 'thinking', 'output_config', 'service_tier', 'diagnostics'],
  ...['compaction', 'thread', 'speed', ...hints, ...lodestoneFields],
]);

/** Chat completions take at most this many. */
const stopSequencesMax = 4;
/** Longest `user` that OpenAI takes. Claude Code's ids are longer. */
const userMax = 64;

/** `unset` is not in `fields`; `left` is. */
function translate(given: Fields, left: readonly string[], unset: readonly string[] = []): Translation {
  const fields = omit(given, left);
  const inexpressible: Inexpressible[] = [];
  const optional: OptionalField[] = [...unset, ...left].map((name) => ({ name, word: null }));
  const noted = { inexpressible, optional };
  const plainMessages = translateMessages(fields, { marked: false, ...noted });
  const markedMessages = translateMessages(fields, { marked: true, inexpressible: [], optional: [] });
  const tools = translateTools(fields, noted);
  const { stop_sequences: stops, top_k, metadata, output_config: output, thinking } = fields;
  if (Array.isArray(stops) && stops.length > stopSequencesMax) {
    const reason = `takes at most ${stopSequencesMax} stop sequences`;
    inexpressible.push({ param: 'stop_sequences', reason, word: 'stops' });
  }
  if (top_k !== undefined) inexpressible.push({ param: 'top_k', word: 'top_k' });
  if (fields.thread !== undefined) {
    // With these details the official tool runner does without threads.
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
    inexpressible.push({ param: 'thread', reason: 'keeps no threads', details });
  }
  const { service_tier } = fields as { service_tier?: string };
  const tier = service_tier === undefined || isOrdinaryTier(service_tier) ? null : service_tier;
  if (tier !== null) inexpressible.push({ param: 'service_tier', word: 'service_tier' });
  if (fields.speed !== undefined && fields.speed !== 'standard') inexpressible.push({ param: 'speed' });
  for (const name of ['compaction', ...hints]) {
    // What becomes of `metadata` depends on its members.
    if (fields[name] !== undefined && name !== 'metadata') optional.push({ name, word: null });
  }
  for (const param in fields) if (!known.has(param)) inexpressible.push({ param });
  const { user_id, ...tags } = (metadata ?? {}) as Fields;
  const user = typeof user_id === 'string' && user_id.length <= userMax ? user_id : undefined;
  if (typeof user_id === 'string') optional.push({ name: 'metadata', word: user === undefined ? null : 'user' });
  if (Object.keys(tags).length > 0) optional.push({ name: 'metadata', word: null });
  const effort = effortOf(thinking as Fields | undefined, output as Fields | undefined, fields.max_tokens as number);
  if (effort.name !== null) optional.push({ name: effort.name, word: effort.word });
  noteSettings(fields, noted);
  const format = formatOf((output as Fields | undefined)?.format);
  const common = {
    ...(fields.max_tokens !== undefined && { max_tokens: fields.max_tokens }),
    ...(fields.temperature !== undefined && { temperature: fields.temperature }),
    ...(fields.top_p !== undefined && { top_p: fields.top_p }),
    ...(top_k !== undefined && { top_k }),
    ...(Array.isArray(stops) && stops.length > 0 && { stop: stops }),
    ...(user !== undefined && { user }),
    ...(tier !== null && { service_tier: tier }),
    ...(format && { response_format: format }),
  };
  const write = (messages: Translated, marks: boolean): Fields => ({
    ...common,
    ...((marks || effort.word === 'reasoning_effort') && levelOf(effort, marks)),
    messages,
    ...tools.written(marks),
  });
  return { ...formsOf(write(plainMessages, false), write(markedMessages, true)), inexpressible, optional };
}

/** Only Anthropic's models have efforts above `high` in all places. */
function levelOf({ level }: Effort, marks: boolean): Fields {
  if (level === null) return {};
  return { reasoning_effort: !marks && (level === 'max' || level === 'xhigh') ? 'high' : level };
}

interface Effort {
  readonly level: string | null;
  readonly name: string | null;
  /** Many routes accept an effort; few accept a token budget. */
  readonly word: 'reasoning_effort' | 'thinking';
}

/** Shares of `max_tokens` up to which an effort is meant. */
const shares: readonly (readonly [share: number, effort: string])[] = [
  [0.2, 'low'],
  [0.5, 'medium'],
];

function effortOf(thinking: Fields | undefined, output: Fields | undefined, limit: number | undefined): Effort {
  const { effort } = output ?? {};
  if (typeof effort === 'string') return { level: effort, name: 'output_config.effort', word: 'reasoning_effort' };
  if (thinking === undefined || thinking.type === 'disabled') {
    return { level: null, name: null, word: 'thinking' };
  }
  const { budget_tokens: budget } = thinking;
  const share = typeof budget === 'number' && limit ? budget / limit : 1;
  const level = shares.find(([upTo]) => share <= upTo)?.[1] ?? 'high';
  return { level, name: 'thinking', word: 'thinking' };
}

/** Members that have no translation. */
function noteSettings({ thinking, output_config: output }: Fields, { inexpressible, optional }: Notes): void {
  if (typeof (thinking as Fields | undefined)?.display === 'string')
    optional.push({ name: 'thinking.display', word: null });
  for (const [name, value] of Object.entries((output ?? {}) as Fields)) {
    if (value === null || value === undefined || name === 'effort') continue;
    const param = `output_config.${name}`;
    if (name === 'task_budget') optional.push({ name: param, word: null });
    else if (name !== 'format' || (value as Fields).type !== 'json_schema') inexpressible.push({ param });
  }
}

function formatOf(format: unknown): Fields | undefined {
  const { type, schema } = (format ?? {}) as Fields;
  if (type !== 'json_schema') return undefined;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}
