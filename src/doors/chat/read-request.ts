/**
 * Reads a chat completions request: bytes in, a validated request out. It is pure, and runs on the main thread or, for large
 * bodies, in the body thread. What it checked is what it serialises, so that a duplicate key cannot smuggle a value past it.
 */
import { gatewayError } from '../../errors/gateway-error.js';
import type { ChatRequest, RefusableParameter } from '../../wire/chat-request.js';
import { findMembers, keptMembers, type Members, membersWithRepeats } from '../../wire/json-members.js';
import { excerpt, nestingMax, parseExcessOf, shown, type TextEncoding, tooDeep } from '../../wire/json-text.js';
import { partialOf } from '../../wire/partial-fields.js';
import {
  checkFallback,
  checkMemberCount,
  checkModel,
  checkObject,
  checkType,
  type Fields,
  isFields,
  type ParsedBody,
  parseBody,
  tooDeepError,
} from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { routingFieldsOf } from '../routing-fields.js';
import { checkDoor } from '../wrong-door.js';
import { chatFields } from './fields.js';
import { checkMessages, stopSequencesMax } from './messages.js';
import { pricedExtrasOf } from './priced-extras.js';
import { scanRequest } from './scan-request.js';

/** Fields that the dialect writes itself, or that are not sent to a provider. */
const ownFields = new Set(['model', 'stream', 'stream_options', 'fallback', 'provider', 'session_id']);

/** The usual request is scanned; any other, and every one that is not valid, is parsed. */
export function readRequest(bytes: Buffer, large = false): ChatRequest {
  // A scan takes any number of values, but needs the memory of the text a second time where the parser reads it after all.
  const isScanned = !large || parseExcessOf(bytes)?.isDeep === false;
  return (isScanned ? scanRequest(bytes) : null) ?? parseRequest(bytes, large);
}

export function parseRequest(bytes: Buffer, large = false): ChatRequest {
  return checkRequest(parseBody(bytes, large));
}

function checkRequest({ fields, text, encoding }: ParsedBody): ChatRequest {
  const found = findMembers(text);
  if (found ? found.depth > nestingMax : tooDeep(fields)) throw tooDeepError();
  chatFields.check(fields, encoding);
  const model = checkModel(fields.model, encoding);
  checkDoor(fields, 'messages');
  checkMessages(fields.messages, encoding);
  checkTools(fields.tools, encoding);
  const asked: Asked = { needs: [], noOps: [] };
  for (const param in fields) checkField(fields, param, encoding, asked);
  const { needs } = asked;
  const streamOptions = fields.stream_options as Fields | null | undefined;
  const extras = pricedExtrasOf(fields);
  return {
    ...(extras && { extras }),
    ...boundsOf(fields),
    ...routingFieldsOf(fields, encoding),
    model,
    stream: fields.stream === true,
    includeUsage: streamOptions?.include_usage === true,
    needs,
    responseFormat: needs.includes('response_format') ? excerpt(String((fields.response_format as Fields).type)) : null,
    fallback: checkFallback(fields.fallback, encoding),
    members: membersOf(text, found, fields, asked),
    streamOptionMembers: streamOptions ? membersTextOf({ ...streamOptions, include_usage: undefined }) : '',
    encoding,
    partial: partialOf(fields),
  };
}

/** How much may be generated, as far as the request says it. */
function boundsOf({ max_completion_tokens, max_tokens, n }: Fields): Pick<ChatRequest, 'outputMax' | 'choices'> {
  const outputMax = (max_completion_tokens ?? max_tokens ?? undefined) as number | undefined;
  const choices = typeof n === 'number' && n > 1 ? n : undefined;
  return { ...(outputMax !== undefined && { outputMax }), ...(choices !== undefined && { choices }) };
}

interface Asked {
  needs: RefusableParameter[];
  /** Fields that ask for nothing: they need nothing of a route, and are not sent on. */
  noOps: string[];
}

/** Checks one field. `null` is the same as leaving it out; a field without a rule is left to the provider. */
function checkField(fields: Fields, param: string, encoding: TextEncoding, asked: Asked): void {
  const value = fields[param];
  switch (param) {
    case 'temperature':
      checkRange(fields, param, { low: 0, high: 2 }, { encoding, asked });
      break;
    case 'top_p':
      checkRange(fields, param, { low: 0, high: 1 }, { encoding, asked });
      break;
    case 'frequency_penalty':
    case 'presence_penalty':
      checkRange(fields, param, { low: -2, high: 2 }, { encoding, asked });
      break;
    case 'max_tokens':
    case 'max_completion_tokens':
      checkCount(value, param, encoding, asked);
      break;
    case 'n':
      checkCount(value, param, encoding, asked);
      if (value !== null) recordParameter(asked, param, (value as number) > 1);
      break;
    case 'stop':
      if (value === null) asked.noOps.push(param);
      else checkStop(value, encoding);
      break;
    case 'stream':
      if (value !== null) checkType(value, param, 'boolean', 'a boolean', encoding);
      break;
    case 'stream_options':
      if (value !== null) checkStreamOptions(value, encoding);
      break;
    case 'logprobs':
      if (value !== null) checkType(value, param, 'boolean', 'a boolean', encoding);
      recordParameter(asked, param, value === true);
      break;
    case 'response_format':
    case 'logit_bias':
      if (value !== null) checkObject(value, param, encoding);
      recordParameter(asked, param, value !== null && asksSomething(param, value as Fields));
      break;
  }
}

const streamOptionNames: ReadonlySet<string> = new Set(['include_usage']);

function checkStreamOptions(options: unknown, encoding: TextEncoding): void {
  checkObject(options, 'stream_options', encoding);
  checkMemberCount(options, 'stream_options');
  checkInnerNames(options as Fields, () => 'stream_options', encoding, streamOptionNames);
}

/** Tools are the provider's to judge, but for their types, which have prices. */
function checkTools(tools: unknown, encoding: TextEncoding): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, at) => {
    if (isFields(tool)) checkInnerNames(tool, () => `tools[${at}]`, encoding);
  });
}

function asksSomething(param: 'response_format' | 'logit_bias', value: Fields): boolean {
  return param === 'response_format' ? value.type !== 'text' : Object.keys(value).length > 0;
}

function recordParameter(asked: Asked, param: RefusableParameter, asks: boolean): void {
  if (asks) asked.needs.push(param);
  else asked.noOps.push(param);
}

interface FieldContext {
  readonly encoding: TextEncoding;
  readonly asked: Asked;
}

function checkRange(
  fields: Fields,
  param: string,
  { low, high }: { low: number; high: number },
  { encoding, asked }: FieldContext,
): void {
  const value = fields[param];
  if (value === null) return void asked.noOps.push(param);
  checkType(value, param, 'number', 'a number', encoding);
  if ((value as number) >= low && (value as number) <= high) return;
  const range = `from ${low} to ${high}`;
  throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range });
}

function checkCount(value: unknown, param: string, encoding: TextEncoding, asked: Asked): void {
  if (value === null) return void asked.noOps.push(param);
  checkType(value, param, 'number', 'an integer', encoding);
  if (!Number.isFinite(value) || (value as number) < 1) {
    throw gatewayError('parameter_out_of_range', { param, value: shown(value, encoding), range: '1 or greater' });
  }
  if (!Number.isInteger(value)) {
    throw gatewayError('field_type', { param, found: shown(value, encoding), expected: 'an integer' });
  }
}

function checkStop(stop: unknown, encoding: TextEncoding): void {
  if (typeof stop === 'string') return;
  const wrong = Array.isArray(stop) ? stop.findIndex((sequence) => typeof sequence !== 'string') : -2;
  if (wrong !== -1) {
    const found =
      wrong === -2
        ? shown(stop, encoding)
        : `an array whose entry ${wrong} is ${shown((stop as unknown[])[wrong], encoding)}`;
    throw gatewayError('field_type', { param: 'stop', found, expected: 'a string or an array of strings' });
  }
  const { length } = stop as unknown[];
  if (length > stopSequencesMax) {
    throw gatewayError('parameter_out_of_range', {
      param: 'stop',
      value: `an array of ${length} sequences`,
      range: `at most ${stopSequencesMax} sequences`,
    });
  }
}

/**
 * All fields that go to the provider as they are, cut out of the text. Only one with a duplicate key somewhere in it is serialised, so that
 * what was checked is what is sent: that changes numbers beyond 2⁵³.
 */
function membersOf(text: string, found: Members | null, fields: Fields, { noOps }: Asked): string {
  if (!found) return serialise(fields, noOps);
  const anew = membersWithRepeats(found, fields).filter((key) => goesOn(key, noOps));
  const kept = keptMembers(text, found, (key) => goesOn(key, noOps) && !anew.includes(key));
  if (anew.length === 0) return kept;
  const written = membersTextOf(Object.fromEntries(anew.map((key) => [key, fields[key]])));
  return kept === '' ? written : `${kept},${written}`;
}

function serialise(fields: Fields, noOps: readonly string[]): string {
  return membersTextOf(Object.fromEntries(Object.entries(fields).filter(([key]) => goesOn(key, noOps))));
}

function goesOn(key: string, noOps: readonly string[]): boolean {
  return !ownFields.has(key) && !noOps.includes(key);
}

function membersTextOf(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}
