/** Reads what the bodies of all doors have in common: JSON, the model id, the fallback list, and the types of fields. */
import { type GatewayError, gatewayError } from '../errors/gateway-error.js';
import { fallbackModelsMax, modelIdMax } from '../wire/chat-request.js';
import {
  excerpt,
  type JsonText,
  nestingMax,
  parseExcessOf,
  parseJsonBytes,
  plainText,
  shown,
  type TextEncoding,
} from '../wire/json-text.js';

export type Fields = Record<string, unknown>;

export interface ParsedBody {
  readonly fields: Fields;
  /** The text that was parsed. */
  readonly text: string;
  readonly encoding: TextEncoding;
}

/** No API has nearly as many fields. */
const membersMax = 512;
/** Longer than the name of any field. */
const memberNameMax = 1024;

/** Parses a body into a JSON object. Throws where it is none, or more than is read. */
export function parseBody(bytes: Buffer, large: boolean): ParsedBody {
  if (bytes.length === 0) throw gatewayError('body_not_json', { reason: 'is empty' });
  if (large) checkExcess(bytes);
  let json: JsonText;
  try {
    json = parseJsonBytes(bytes);
  } catch (error) {
    throw gatewayError('body_not_json', { reason: `is not JSON: ${reasonOf(error)}` });
  }
  const { value, text, encoding } = json;
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw gatewayError('body_not_json', { reason: `is ${shown(value, encoding)}, not a JSON object` });
  }
  if (large) checkNames(Object.keys(value), encoding);
  return { fields: value as Fields, text, encoding };
}

/** Throws where a text is too deep to parse, or has too many values or too many bytes. Parsing costs time and memory for each. */
export function checkExcess(bytes: Uint8Array): void {
  const excess = parseExcessOf(bytes);
  if (excess === null) return;
  throw excess.isDeep ? tooDeepError() : tooDetailed(excess.what);
}

function checkNames(names: readonly string[], encoding: TextEncoding): void {
  if (names.length > membersMax) throw tooDetailed(`has ${names.length} members, but at most ${membersMax} are read`);
  const long = names.find((name) => name.length > memberNameMax);
  if (long === undefined) return;
  throw tooDetailed(`has a member ${shown(long, encoding)} whose name has ${long.length} characters`);
}

function tooDetailed(what: string): GatewayError {
  return gatewayError('body_too_detailed', { what });
}

/** The fields that are not null, for APIs in which a null counts as absent. Most bodies have none. */
export function withoutNulls(fields: Fields): Fields {
  for (const name in fields) {
    if (fields[name] === null) return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
  }
  return fields;
}

/** The fields but those of these names. */
export function omit(fields: Fields, names: readonly string[] = []): Fields {
  if (names.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** Throws where an object of a request has more members than any API knows. */
export function checkMemberCount(value: unknown, param: string): void {
  if (!isFields(value)) return;
  const { length } = Object.keys(value);
  if (length <= fieldMembersMax) return;
  const range = `an object of at most ${fieldMembersMax} members`;
  throw gatewayError('parameter_out_of_range', { param, value: `an object of ${length} members`, range });
}

/** Throws where a list of settings has more entries than any API knows. */
export function checkListLength(list: unknown, param: string): void {
  if (!Array.isArray(list) || list.length <= fieldMembersMax) return;
  const range = `a list of at most ${fieldMembersMax} entries`;
  throw gatewayError('parameter_out_of_range', { param, value: `a list of ${list.length} entries`, range });
}

const fieldMembersMax = 64;

export function tooDeepError(): GatewayError {
  return gatewayError('body_not_json', { reason: `is nested deeper than ${nestingMax} levels` });
}

/** The parser's message, without the piece of the body that it quotes. */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message
    .replace(/,? ?(?:\.\.\.)?".*/s, '')
    .replace(/ in JSON.*/, '')
    .slice(0, 120);
}

export function checkModel(model: unknown, encoding: TextEncoding): string {
  if (typeof model === 'string' && model !== '') {
    return model.length <= handedIdMax ? plainText(model, encoding) : shortenedId(model, encoding);
  }
  if (model === undefined || model === null || model === '') {
    throw gatewayError('model_id_shape', { id: '', reason: 'has 0 segments: `model` is missing or empty' });
  }
  throw gatewayError('field_type', { param: 'model', found: shown(model, encoding), expected: 'a string' });
}

const segmentsMax = 4;
/** Longer ids are not handed from thread to thread. */
const handedIdMax = 64 * 1024;

/** No catalogue has an id this long, so what it stands for is found out with as many segments, each cut off. */
function shortenedId(id: string, encoding: TextEncoding): string {
  const segments = id.split('/', segmentsMax + 1);
  const cut = (text: string): string => excerpt(plainText(text.slice(0, modelIdMax), encoding));
  if (segments.length <= segmentsMax) return segments.map(cut).join('/');
  let count = 1;
  for (let at = id.indexOf('/'); at !== -1; at = id.indexOf('/', at + 1)) count++;
  const reason = `has ${count} segments, but needs 3 or 4`;
  throw gatewayError('model_id_shape', { id: cut(id), reason });
}

export function checkFallback(fallback: unknown, encoding: TextEncoding): string[] | null {
  if (fallback === undefined || fallback === null) return null;
  if (typeof fallback !== 'object' || Array.isArray(fallback)) {
    throw gatewayError('field_type', { param: 'fallback', found: shown(fallback, encoding), expected: 'an object' });
  }
  const { models } = fallback as Fields;
  if (models === undefined || models === null) return null;
  const param = 'fallback.models';
  if (!Array.isArray(models)) {
    throw gatewayError('field_type', { param, found: shown(models, encoding), expected: 'an array of model ids' });
  }
  const wrong = models.findIndex((id) => typeof id !== 'string');
  if (wrong >= 0) {
    const found = `an array whose entry ${wrong} is ${shown(models[wrong], encoding)}`;
    throw gatewayError('field_type', { param, found, expected: 'an array of model ids' });
  }
  if (models.length > fallbackModelsMax) {
    throw gatewayError('parameter_out_of_range', {
      param,
      value: `an array of ${models.length} ids`,
      range: `at most ${fallbackModelsMax} ids`,
    });
  }
  return (models as string[]).map((id) => {
    if (id.length <= modelIdMax) return plainText(id, encoding);
    throw gatewayError('invalid_fallback_model', {
      id: excerpt(plainText(id.slice(0, modelIdMax), encoding)),
      reason: `it has ${id.length} characters, but an id has at most ${modelIdMax}.`,
    });
  });
}

export function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
