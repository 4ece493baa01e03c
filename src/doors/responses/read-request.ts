/**
 * Reads a Responses request: checks it, keeps it for routes that speak the API, and translates it to the chat format for all others.
 * A null value counts as absent.
 */

import { encodeLatin1 } from '../../base/latin1.js';
import type { ChatRequest, Inexpressible, OptionalField, PricedExtras } from '../../wire/chat-request.js';
import { findMembers } from '../../wire/json-members.js';
import { nestingMax, type TextEncoding, tooDeep } from '../../wire/json-text.js';
import { isOrdinaryTier } from '../../wire/usage.js';
import {
  checkFallback,
  checkModel,
  type Fields,
  isFields,
  omit,
  parseBody,
  tooDeepError,
  withoutNulls,
} from '../body.js';
import { hasAudio, isSpoken, tierAsked } from '../chat/priced-extras.js';
import { leavableTools } from '../leavable-tools.js';
import { lodestoneFields, nativeBody } from '../native-body.js';
import { routingFieldsOf } from '../routing-fields.js';
import { RequestScan } from '../scanned-request.js';
import { promptInexpressible, storedInResponses } from '../stored-objects.js';
import { formsOf, hints, membersText, TranslatedRequest, type Translation } from '../translated-request.js';
import { checkDoor } from '../wrong-door.js';
import { responsesFields } from './fields.js';
import { checkInput } from './input.js';
import { noteSettings } from './note-settings.js';
import { keepsReasoning, signedReasoning } from './rules.js';
import { translateInput } from './translate-input.js';
import { allTools, hostedTools, optionalTool, translateTools } from './translate-tools.js';

interface ReadOptions {
  /** The response that the answer names as the one before it. */
  readonly previousId?: string | null;
  /** Members that a provider gets besides the client's, as JSON text. */
  readonly added?: Readonly<Record<string, string>>;
}

const storesNothing = { store: 'false' };
const storeMember = ',"store":false';

/** The usual request is scanned, which gives the same as the parser; any other, and every one that is not valid, is parsed. */
export function readResponsesRequest(bytes: Buffer, large = false, options?: ReadOptions): ChatRequest {
  const scanned = large || options !== undefined ? null : scanResponsesRequest(bytes);
  return scanned ?? parseResponsesRequest(bytes, large, options);
}

class ResponsesScan extends RequestScan {
  maxOutputTokens: number | undefined;
  cacheKey: string | undefined;
  keepsReasoning = false;

  protected override take(name: string, value: unknown): void {
    if (name === 'max_output_tokens') this.maxOutputTokens = value as number;
    else if (name === 'prompt_cache_key') this.cacheKey = value as string;
    else if (name === 'include') this.keepsReasoning = value === keepsReasoning;
  }
}

/** null where the body is unusual, or not valid. */
export function scanResponsesRequest(bytes: Buffer): ChatRequest | null {
  const scan = new ResponsesScan(responsesFields);
  if (!scan.scan(bytes) || !scan.has('input')) return null;
  const { text, modelStart, modelEnd, end } = scan;
  const body = scan.has('store') ? text : text.slice(0, end) + storeMember + text.slice(end);
  return new TranslatedRequest(
    scan.ownFields(scan.maxOutputTokens, scan.cacheKey),
    { api: 'responses', body, modelStart, modelEnd, names, keepsReasoning: scan.keepsReasoning },
    (left) => translate(withoutNulls(JSON.parse(text) as Fields), left, { previousId: null, encoding: 'latin1' }),
  );
}

export function parseResponsesRequest(
  bytes: Buffer,
  large = false,
  { previousId = null, added = storesNothing }: ReadOptions = {},
): ChatRequest {
  const body = parseBody(bytes, large);
  const { text, encoding } = body;
  const fields = withoutNulls(body.fields);
  const found = findMembers(text);
  if (found ? found.depth > nestingMax : tooDeep(fields)) throw tooDeepError();
  responsesFields.check(body.fields, encoding);
  const model = checkModel(fields.model, encoding);
  checkDoor(fields, 'input');
  checkInput(fields, encoding);
  responsesFields.checkValues(fields, encoding);
  const { provider, sessionId, cacheKey } = routingFieldsOf(fields, encoding);
  const extras = extrasOf(fields);
  const { body: sent, modelStart, modelEnd } = nativeBody(body, found, added);
  const { type: format } = (formatOf((fields.text as Fields | undefined)?.format) ?? {}) as { type?: string };
  return new TranslatedRequest(
    {
      model,
      stream: fields.stream === true,
      responseFormat: format ?? null,
      fallback: checkFallback(fields.fallback, encoding),
      encoding,
      outputMax: fields.max_output_tokens as number | undefined,
      extras,
      provider,
      sessionId,
      cacheKey,
    },
    {
      api: 'responses',
      body: sent,
      modelStart,
      modelEnd,
      names,
      keepsReasoning: Array.isArray(fields.include) && fields.include.includes(signedReasoning),
    },
    (left) => translate(fields, left, { previousId, encoding }),
    extras?.tools.length ? () => leavableTools(sent, fields.tools, optionalTool(fields)) : undefined,
  );
}

/** The client's names of chat fields that have another one. */
const names = { response_format: 'text.format', messages: 'input', reasoning_effort: 'reasoning.effort' };

function extrasOf(fields: Fields): PricedExtras | undefined {
  const asked = tierAsked(fields);
  const all = allTools(fields);
  const tools = hostedTools(all);
  const stored = storedInResponses(fields, all);
  const spoken = isSpoken(fields);
  const { input } = fields;
  const audio =
    Array.isArray(input) && input.some(({ content, output }: Fields) => hasAudio(content) || hasAudio(output));
  if (asked.tier === null && tools.length === 0 && !stored && !spoken && !audio) return undefined;
  return { ...asked, tools, audio, spoken, stored };
}

interface TranslateOptions {
  readonly previousId: string | null;
  readonly encoding: TextEncoding;
}

function translate(given: Fields, left: readonly string[], { previousId, encoding }: TranslateOptions): Translation {
  const fields = omit(given, left);
  const inexpressible: Inexpressible[] = [];
  const optional: OptionalField[] = left.map((name) => ({ name, word: null }));
  const noted = { inexpressible, optional };
  if (fields.prompt !== undefined) inexpressible.push(promptInexpressible);
  const { written, namespaces } = translateTools(fields, noted);
  const common = commonFields(fields, noted);
  const write = (messages: Fields[]): Fields => ({ ...common, messages, ...written });
  const plain = write(translateInput(fields, { marked: false, encoding, ...noted }));
  // What cannot be expressed is the same in both, and is noted once.
  const withMarks = write(translateInput(fields, { marked: true, encoding, inexpressible: [], optional: [] }));
  return {
    ...formsOf(plain, withMarks),
    inexpressible,
    optional,
    namespaces: namespaces.size > 0 ? Object.fromEntries(namespaces) : undefined,
    echo: echoText(fields, previousId, encoding),
  };
}

/** Fields that are read here, or that ask for nothing of a route that keeps nothing. */
const known = new Set([
  ...[
    'model',
    'input',
    'prompt',
    'instructions',
    'stream',
    'stream_options',
    'store',
    'background',
    'include',
    'tools',
  ],
  ...['tool_choice', 'parallel_tool_calls', 'text', 'reasoning', 'max_output_tokens', 'max_tool_calls', 'temperature'],
  ...['top_p', 'top_logprobs', 'truncation', 'user', 'service_tier', ...hints, ...lodestoneFields],
]);

interface Notes {
  readonly inexpressible: Inexpressible[];
  readonly optional: OptionalField[];
}

function commonFields(fields: Fields, { inexpressible, optional }: Notes): Fields {
  for (const param in fields) if (!known.has(param)) inexpressible.push({ param });
  if (fields.truncation === 'auto') inexpressible.push({ param: 'truncation' });
  if (typeof fields.top_logprobs === 'number' && fields.top_logprobs > 0) inexpressible.push({ param: 'top_logprobs' });
  for (const name of hints) if (fields[name] !== undefined) optional.push({ name, word: null });
  noteSettings(fields, { inexpressible, optional });
  const { format } = (fields.text ?? {}) as Fields;
  const { effort } = (fields.reasoning ?? {}) as Fields;
  if (typeof fields.user === 'string') optional.push({ name: 'user', word: 'user' });
  const { service_tier: tier } = fields;
  if (typeof tier === 'string' && !isOrdinaryTier(tier)) {
    inexpressible.push({ param: 'service_tier', word: 'service_tier' });
  }
  const response_format = formatOf(format);
  return {
    ...(fields.max_output_tokens !== undefined && { max_tokens: fields.max_output_tokens }),
    ...(fields.temperature !== undefined && { temperature: fields.temperature }),
    ...(fields.top_p !== undefined && { top_p: fields.top_p }),
    ...(typeof effort === 'string' && effort !== '' && { reasoning_effort: effort }),
    ...(typeof fields.user === 'string' && { user: fields.user }),
    ...(typeof tier === 'string' && !isOrdinaryTier(tier) && { service_tier: tier }),
    ...(response_format && { response_format }),
  };
}

function formatOf(format: unknown): Fields | undefined {
  if (!isFields(format) || format.type === 'text') return undefined;
  if (format.type !== 'json_schema') return { type: format.type };
  const { name, schema, strict, description } = format;
  return { type: 'json_schema', json_schema: { name, schema, strict, description } };
}

function echoText(fields: Fields, previousId: string | null, encoding: TextEncoding): string {
  const text = membersText(echoOf(fields, previousId));
  return encoding === 'latin1' ? text : encodeLatin1(text);
}

/** A longer text about the settings is not repeated: an answer has it up to three times. */
const echoMax = 256 * 1024;

/** `length` is how long the text is with everything that was taken out of it. */
export function boundedEcho(echo: string, length: number): string {
  return length > echoMax ? echoText({}, null, 'latin1') : echo;
}

/** What the answer repeats of the request: nothing that every translation leaves out. */
function echoOf(fields: Fields, previousId: string | null): Fields {
  const { effort = null } = (fields.reasoning ?? {}) as Fields;
  const { format } = (fields.text ?? {}) as Fields;
  const tools = ((fields.tools ?? []) as Fields[]).filter(({ type }) => type === 'function' || type === 'namespace');
  return {
    background: false,
    instructions: fields.instructions ?? null,
    max_output_tokens: fields.max_output_tokens ?? null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: fields.parallel_tool_calls ?? true,
    previous_response_id: previousId,
    prompt_cache_key: null,
    reasoning: { effort, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: fields.temperature ?? 1,
    text: { format: format ?? { type: 'text' } },
    tool_choice: fields.tool_choice ?? 'auto',
    tools: tools.map(echoTool),
    top_logprobs: 0,
    top_p: fields.top_p ?? 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    truncation: fields.truncation ?? 'disabled',
    user: fields.user ?? null,
  };
}

/** A function with every member that the API's schema requires. Strictness that was not asked for was not applied. */
function echoTool(tool: Fields): Fields {
  if (tool.type !== 'function') return tool;
  const { description = null, parameters = null, strict } = tool;
  return { ...tool, description, parameters, strict: strict === true };
}
