/**
 * Reads a Messages request: checks it, keeps it for routes that speak the API, and translates it to the chat format for all others.
 * A null value counts as absent.
 */
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest, Inexpressible, OptionalField, PricedExtras } from '../../wire/chat-request.js';
import { findMembers } from '../../wire/json-members.js';
import { nestingMax, shown, tooDeep } from '../../wire/json-text.js';
import { isOrdinaryTier } from '../../wire/usage.js';
import {
  checkFallback,
  checkModel,
  checkObject,
  checkOtherModels,
  checkRange,
  checkType,
  type Fields,
  type ParsedBody,
  parseBody,
  tooDeepError,
} from '../body.js';
import { lodestoneFields, nativeBody } from '../native-body.js';
import { routingFieldsOf } from '../routing-fields.js';
import { checkDoor } from '../wrong-door.js';
import { checkMessages } from './check-messages.js';
import { type Translated, translateMessages } from './translate-messages.js';
import { translateTools } from './translate-tools.js';

export function readMessagesRequest(bytes: Buffer, large = false): ChatRequest {
  return readRequest(bytes, large, true);
}

export function readCountRequest(bytes: Buffer, large = false): ChatRequest {
  return readRequest(bytes, large, false);
}

function readRequest(bytes: Buffer, large: boolean, needsLimit: boolean): ChatRequest {
  const body = parseBody(bytes, large);
  const { text, encoding } = body;
  const fields = withoutNulls(body.fields);
  const found = findMembers(text);
  if (found ? found.depth > nestingMax : tooDeep(fields)) throw tooDeepError();
  const model = checkModel(fields.model, encoding);
  checkDoor(fields, 'messages');
  checkFields(fields, body, needsLimit);
  checkMessages(fields, encoding);
  checkOtherModels(fields);
  const translation = translate(fields);
  const { plain, marked, inexpressible, optional, extras } = translation;
  const outputMax = fields.max_tokens as number | undefined;
  const hasFormat = plain.response_format !== undefined;
  return {
    ...(extras && { extras }),
    ...(outputMax !== undefined && { outputMax }),
    ...routingFieldsOf(fields, encoding),
    model,
    stream: fields.stream === true,
    includeUsage: true,
    needs: hasFormat ? ['response_format'] : [],
    responseFormat: hasFormat ? 'json_schema' : null,
    fallback: checkFallback(fields.fallback, encoding),
    members: JSON.stringify(plain).slice(1, -1),
    streamOptionMembers: '',
    encoding,
    native: {
      api: 'messages',
      ...nativeBody(body),
      ...(marked && { marked: JSON.stringify(marked).slice(1, -1) }),
      inexpressible,
      optional,
      echo: '',
      names: { response_format: 'output_config.format', stop: 'stop_sequences' },
    },
  };
}

function withoutNulls(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function checkFields(fields: Fields, { encoding }: ParsedBody, needsLimit: boolean): void {
  const { max_tokens: limit } = fields;
  if (limit === undefined && needsLimit) {
    const what = '`max_tokens` is missing. Say how many tokens the answer may have.';
    throw gatewayError('request_invalid', { param: 'max_tokens', what });
  }
  if (limit !== undefined) {
    checkType(limit, 'max_tokens', 'number', 'an integer', encoding);
    if (!Number.isInteger(limit) || (limit as number) < 1) {
      const values = { param: 'max_tokens', value: shown(limit, encoding), range: 'an integer of 1 or greater' };
      throw gatewayError('parameter_out_of_range', values);
    }
  }
  checkRange(fields.temperature, 'temperature', 1, encoding);
  checkRange(fields.top_p, 'top_p', 1, encoding);
  checkRange(fields.top_k, 'top_k', Number.MAX_SAFE_INTEGER, encoding);
  if (fields.stream !== undefined) checkType(fields.stream, 'stream', 'boolean', 'a boolean', encoding);
  if (fields.service_tier !== undefined) checkType(fields.service_tier, 'service_tier', 'string', 'a string', encoding);
  for (const param of ['thinking', 'tool_choice', 'metadata', 'output_config', 'context_management']) {
    if (fields[param] !== undefined) checkObject(fields[param], param, encoding);
  }
  for (const param of ['tools', 'stop_sequences']) {
    if (fields[param] === undefined || Array.isArray(fields[param])) continue;
    const found = shown(fields[param], encoding);
    throw gatewayError('field_type', { param, found, expected: 'an array' });
  }
  const { system } = fields;
  if (system !== undefined && typeof system !== 'string' && !Array.isArray(system)) {
    const expected = 'a string or an array of text blocks';
    throw gatewayError('field_type', { param: 'system', found: shown(system, encoding), expected });
  }
}

interface Translation {
  /** The chat fields that every dialect gets. */
  readonly plain: Fields;
  /** The same with cache markers and signed reasoning; undefined where there are none. */
  readonly marked: Fields | undefined;
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
  readonly extras: PricedExtras | undefined;
}

/** Fields that are read above or below, or that ask for nothing of a route. */
const known = new Set([
  ...['model', 'messages', 'system', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'stop_sequences'],
  ...['tools', 'tool_choice', 'metadata', 'thinking', 'output_config', 'service_tier', 'diagnostics'],
  ...['context_management', 'compaction', 'cache_control', 'thread', 'speed', ...lodestoneFields],
]);

/** Chat completions take at most this many. */
const stopSequencesMax = 4;
/** Longest `user` that OpenAI takes. Claude Code's ids are longer. */
const userMax = 64;

function translate(fields: Fields): Translation {
  const inexpressible: Inexpressible[] = [];
  const optional: OptionalField[] = [];
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
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };
    inexpressible.push({ param: 'thread', reason: 'keeps no threads', details });
  }
  const { service_tier } = fields as { service_tier?: string };
  const tier = service_tier === undefined || isOrdinaryTier(service_tier) ? null : service_tier;
  if (tier !== null) inexpressible.push({ param: 'service_tier', word: 'service_tier' });
  if (fields.speed === 'fast') inexpressible.push({ param: 'speed' });
  for (const name of ['context_management', 'compaction']) {
    if (fields[name] !== undefined) optional.push({ name, word: null });
  }
  if (fields.cache_control !== undefined) optional.push({ name: 'cache_control', word: null });
  for (const param in fields) if (!known.has(param)) inexpressible.push({ param });
  const { user_id } = (metadata ?? {}) as Fields;
  const user = typeof user_id === 'string' && user_id.length <= userMax ? user_id : undefined;
  if (typeof user_id === 'string') optional.push({ name: 'metadata', word: user === undefined ? null : 'user' });
  const effort = effortOf(thinking as Fields | undefined, output as Fields | undefined, fields.max_tokens as number);
  if (effort.name !== null) optional.push({ name: effort.name, word: effort.word });
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
  const plain = write(plainMessages, false);
  const marked = write(markedMessages, true);
  const differs = JSON.stringify(plain) !== JSON.stringify(marked);
  const hasExtras = tier !== null || tools.hosted.length > 0;
  const extras = hasExtras ? { tier, tools: tools.hosted, audio: false } : undefined;
  return { plain, marked: differs ? marked : undefined, inexpressible, optional, extras };
}

/** Only Anthropic's models have efforts above `high` in all places. */
function levelOf({ level }: Effort, marks: boolean): Fields {
  if (level === null) return {};
  return { reasoning_effort: !marks && (level === 'max' || level === 'xhigh') ? 'high' : level };
}

interface Effort {
  readonly level: string | null;
  readonly name: string | null;
  /** An effort is a word of many routes; a budget of tokens only of those that can be told one. */
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

function formatOf(format: unknown): Fields | undefined {
  const { type, schema } = (format ?? {}) as Fields;
  if (type !== 'json_schema') return undefined;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: true } };
}
