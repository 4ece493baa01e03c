/**
 * Reads a chat completions request: bytes in, a validated request out. It is pure, and runs on the main thread or, for large
 * bodies, in the body thread. The usual request is scanned, which gives the same as the parser; any other, and every one that is not
 * valid, is parsed. What was checked is what is sent, so that a duplicate key cannot smuggle a value past it.
 */
import type { ChatRequest, RefusableParameter } from '../../wire/chat-request.js';
import { findMembers, keptMembers, type Members, membersWithRepeats } from '../../wire/json-members.js';
import { excerpt, nestingMax, parseExcessOf, type TextEncoding, tooDeep } from '../../wire/json-text.js';
import { partialBits, partialBitsOf, partialOf } from '../../wire/partial-fields.js';
import {
  checkFallback,
  checkModel,
  type Fields,
  isFields,
  omit,
  type ParsedBody,
  parseBody,
  tooDeepError,
} from '../body.js';
import { checkInnerNames } from '../field-table.js';
import { routingFieldsOf } from '../routing-fields.js';
import { RequestScan } from '../scanned-request.js';
import { checkDoor } from '../wrong-door.js';
import { chatFields } from './fields.js';
import { checkMessages, hasParts } from './messages.js';
import { pricedExtrasOf } from './priced-extras.js';

export function readRequest(bytes: Buffer, large = false): ChatRequest {
  // A scan takes any number of values, but needs the memory of the text a second time where the parser reads it after all.
  const isScanned = !large || parseExcessOf(bytes)?.isDeep === false;
  return (isScanned ? scanRequest(bytes) : null) ?? parseRequest(bytes, large);
}

/** What both readers note of the values of fields. */
class Notes {
  stream = false;
  needs: readonly RefusableParameter[] = noNeeds;
  responseFormat: string | null = null;
  private streamOptions: Fields | null = null;
  private maxTokens: number | undefined;
  private maxCompletionTokens: number | undefined;
  private choices: number | undefined;

  /** Takes a value that its rule accepts. Returns whether it is sent on: not where the dialect writes it, or where it asks for nothing. */
  take(name: string, value: unknown): boolean {
    switch (name) {
      case 'model':
      case 'fallback':
      case 'provider':
      case 'session_id':
        return false;
      case 'stream':
        this.stream = value as boolean;
        return false;
      case 'stream_options':
        this.streamOptions = value as Fields;
        return false;
      case 'max_tokens':
        this.maxTokens = value as number;
        return true;
      case 'max_completion_tokens':
        this.maxCompletionTokens = value as number;
        return true;
      case 'n':
        // One answer is what a provider gives anyway.
        if (value === 1) return false;
        this.choices = value as number;
        return this.need(name);
      case 'logprobs':
        return value === true && this.need(name);
      case 'logit_bias':
        return Object.keys(value as Fields).length > 0 && this.need(name);
      case 'response_format': {
        const { type } = value as Fields;
        if (type === 'text') return false;
        this.responseFormat = excerpt(String(type));
        return this.need(name);
      }
      default:
        return true;
    }
  }

  requestOf(read: ReadBeside): ChatRequest {
    const { streamOptions } = this;
    // Members that are absent are undefined: to spread them in where they are there takes four times as long as the whole scan.
    return {
      outputMax: this.maxCompletionTokens ?? this.maxTokens,
      choices: this.choices,
      cacheKey: read.cacheKey,
      model: read.model,
      stream: this.stream,
      includeUsage: streamOptions?.include_usage === true,
      needs: this.needs,
      responseFormat: this.responseFormat,
      fallback: read.fallback,
      members: read.members,
      streamOptionMembers: streamOptions === null ? '' : membersTextOf({ ...streamOptions, include_usage: undefined }),
      encoding: read.encoding,
      partial: read.partial,
      extras: read.extras,
      provider: read.provider,
      sessionId: read.sessionId,
    };
  }

  private need(name: RefusableParameter): true {
    this.needs = [...this.needs, name];
    return true;
  }
}

const noNeeds: readonly RefusableParameter[] = [];

type ReadBeside = Pick<ChatRequest, 'model' | 'fallback' | 'members' | 'encoding' | 'partial'> &
  Pick<ChatRequest, 'cacheKey' | 'extras' | 'provider' | 'sessionId'>;

/** null where the body is unusual, or not valid. */
export function scanRequest(bytes: Buffer): ChatRequest | null {
  const scan = new ChatScan(chatFields);
  return scan.scan(bytes) && scan.has('messages') ? scan.request() : null;
}

class ChatScan extends RequestScan {
  private readonly notes = new Notes();
  private partial = 0;
  private cacheKey: string | undefined;
  /** The text of the members that are sent on; neighbours stay one piece. */
  private members = '';
  private pieceStart = -1;

  protected override take(name: string, value: unknown, start: number): void {
    if (!this.notes.take(name, value)) {
      if (this.pieceStart !== -1) this.endPiece(this.json.text.lastIndexOf(',', start));
      return;
    }
    if (this.pieceStart === -1) this.pieceStart = start;
    if (name === 'messages') this.partial |= (value as number) & hasParts ? partialBits.cache_control : 0;
    else this.partial |= partialBitsOf(name, value);
    if (name === 'prompt_cache_key') this.cacheKey = value as string;
  }

  request(): ChatRequest {
    if (this.pieceStart !== -1) this.endPiece(this.end);
    const { model, members, partial, cacheKey } = this;
    return this.notes.requestOf({ model, fallback: null, members, encoding: 'latin1', partial, cacheKey });
  }

  private endPiece(end: number): void {
    const piece = this.json.text.slice(this.pieceStart, end);
    this.members = this.members === '' ? piece : `${this.members},${piece}`;
    this.pieceStart = -1;
  }
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
  const notes = new Notes();
  const left: string[] = [];
  for (const name in fields) if (!takeField(name, fields[name], encoding, notes)) left.push(name);
  const extras = pricedExtrasOf(fields);
  const { provider, sessionId, cacheKey } = routingFieldsOf(fields, encoding);
  const fallback = checkFallback(fields.fallback, encoding);
  const members = membersOf(text, found, fields, left);
  const partial = partialOf(fields);
  return notes.requestOf({ model, fallback, members, encoding, partial, cacheKey, extras, provider, sessionId });
}

/** `null` is the same as leaving a field out; one without a check is left to the provider. Returns whether the field is sent on. */
function takeField(name: string, value: unknown, encoding: TextEncoding, notes: Notes): boolean {
  const check = chatFields.ruleOf(name)?.check;
  if (check === undefined) return notes.take(name, value);
  if (value === null) return false;
  check(value, name, encoding);
  return notes.take(name, value);
}

/** Tools are the provider's to judge, but for their types, which have prices. */
function checkTools(tools: unknown, encoding: TextEncoding): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, at) => {
    if (isFields(tool)) checkInnerNames(tool, () => `tools[${at}]`, encoding);
  });
}

/**
 * All fields that go to the provider as they are, cut out of the text. Only one with a duplicate key somewhere in it is serialised, so that
 * what was checked is what is sent: that changes numbers beyond 2⁵³.
 */
function membersOf(text: string, found: Members | null, fields: Fields, left: readonly string[]): string {
  const goesOn = (key: string): boolean => !left.includes(key);
  if (!found) return membersTextOf(omit(fields, left));
  const anew = membersWithRepeats(found, fields).filter(goesOn);
  const kept = keptMembers(text, found, (key) => goesOn(key) && !anew.includes(key));
  if (anew.length === 0) return kept;
  const written = membersTextOf(Object.fromEntries(anew.map((key) => [key, fields[key]])));
  return kept === '' ? written : `${kept},${written}`;
}

function membersTextOf(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}
