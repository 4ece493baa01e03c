/**
 * A request of another API than chat completions. Its translation is made when it is first asked for, because a route that speaks the API
 * needs none. What depends on it is read through the prototype, so that a request costs no function for each member.
 */
import type { ChatRequest, NativeRequest, PricedExtras } from '../wire/chat-request.js';
import { excerpt } from '../wire/json-text.js';
import { partialOf } from '../wire/partial-fields.js';
import type { Fields } from './body.js';

export interface Translation {
  /** The chat fields that every dialect gets, as JSON members. */
  readonly members: string;
  /** The same with what only some dialects can express, such as cache markers and signed reasoning; undefined where there is nothing. */
  readonly marked: string | undefined;
  readonly partial: number;
  readonly inexpressible: NativeRequest['inexpressible'];
  readonly optional: NativeRequest['optional'];
  readonly namespaces?: NativeRequest['namespaces'];
  /** Absent where the API repeats nothing. */
  readonly echo?: string;
}

/** Fields of any API that cannot change what an answer says, so that a translation may leave them out. */
export const hints: readonly string[] = [
  ...['context_management', 'metadata', 'client_metadata', 'safety_identifier', 'cache_control'],
  ...['prompt_cache_key', 'prompt_cache_options', 'prompt_cache_retention'],
];

/** The two forms of the chat fields, as the texts that are sent. */
export function formsOf(plain: Fields, withMarks: Fields): Pick<Translation, 'members' | 'marked' | 'partial'> {
  const members = membersText(plain);
  const marked = membersText(withMarks);
  return { members, marked: marked === members ? undefined : marked, partial: partialOf(withMarks) };
}

/** The members of an object as JSON text, without the outer braces. */
export function membersText(fields: Fields): string {
  return JSON.stringify(fields).slice(1, -1);
}

export type OwnFields = Pick<
  ChatRequest,
  | 'model'
  | 'stream'
  | 'responseFormat'
  | 'fallback'
  | 'encoding'
  | 'outputMax'
  | 'extras'
  | 'provider'
  | 'sessionId'
  | 'cacheKey'
>;
type OwnNative = Omit<NativeRequest, 'body' | Exclude<keyof Translation, 'members' | 'partial'>> & {
  readonly body: string;
};

type Translate = (left: readonly string[]) => Translation;
type FindTools = () => NativeRequest['tools'];

/** The request as an object that can be copied and sent to another thread. */
export function plainRequest(request: ChatRequest): ChatRequest {
  return request instanceof TranslatedRequest ? request.plain() : request;
}

/** The copy `{ ...request }` lacks what is read through the prototype: copy `plainRequest(request)`. */
export class TranslatedRequest implements ChatRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage = true;
  readonly needs: ChatRequest['needs'];
  readonly responseFormat: string | null;
  readonly fallback: readonly string[] | null;
  readonly streamOptionMembers = '';
  readonly encoding: ChatRequest['encoding'];
  readonly outputMax: number | undefined;
  readonly extras: PricedExtras | undefined;
  readonly provider: unknown;
  readonly sessionId: string | undefined;
  readonly cacheKey: string | undefined;
  readonly native: TranslatedNative;
  declare name?: NonNullable<ChatRequest['name']>;
  declare filled?: readonly string[];
  private readonly translation: () => Translation;

  /** `translate` leaves out what it is given, and names it. `findTools` only where the request has tools that run at the provider. */
  constructor(read: OwnFields, native: OwnNative, translate: Translate, findTools?: FindTools) {
    this.model = read.model;
    this.stream = read.stream;
    this.needs = read.responseFormat === null ? noNeeds : formatNeeds;
    this.responseFormat = read.responseFormat;
    this.fallback = read.fallback;
    this.encoding = read.encoding;
    this.outputMax = read.outputMax;
    this.extras = read.extras;
    this.provider = read.provider;
    this.sessionId = read.sessionId;
    this.cacheKey = read.cacheKey;
    this.translation = later(() => withDecisiveOnly(translateWith(translate, this.filled)));
    this.native = new TranslatedNative(native, this.translation, findTools && later(findTools));
  }

  get members(): string {
    return this.translation().members;
  }

  get partial(): number {
    return this.translation().partial;
  }

  plain(): ChatRequest {
    const { translation: _, native, ...own } = this;
    return { ...own, members: this.members, partial: this.partial, native: native.plain() };
  }
}

/**
 * Leaves out the fields that were filled in and that no route could keep: the client did not ask for them. A tier stays, because it
 * changes the price.
 */
function translateWith(translate: Translate, filled: readonly string[] = nothing, left = nothing): Translation {
  const translation = translate(left);
  const more = filled.filter(
    (field) => field !== 'service_tier' && translation.inexpressible.some(({ param }) => isIn(param, field)),
  );
  if (more.length === 0) return translation;
  const rest = filled.filter((field) => !more.includes(field));
  return translateWith(translate, rest, [...left, ...more]);
}

function isIn(param: string, field: string): boolean {
  return param === field || param.startsWith(`${field}.`);
}

/** Longer reasons repeat a long name of the client's. */
const reasonMax = 200;

/**
 * Whether a route can serve the request is decided by the first thing that it cannot express. What no route can express decides for all,
 * so nothing behind it is kept: a request can have a hundred thousand of them.
 */
function withDecisiveOnly(translation: Translation): Translation {
  const { inexpressible } = translation;
  if (inexpressible.length === 0) return translation;
  const decisive = inexpressible.findIndex(({ word }) => word === undefined);
  const kept = decisive === -1 ? inexpressible : inexpressible.slice(0, decisive + 1);
  return {
    ...translation,
    inexpressible: kept.map((each) => {
      const { param, reason } = each;
      return { ...each, param: excerpt(param), ...(reason !== undefined && { reason: reason.slice(0, reasonMax) }) };
    }),
  };
}

/** Makes a value when it is first asked for, and keeps it. */
function later<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const nothing: readonly string[] = [];
const noNeeds: ChatRequest['needs'] = [];
const formatNeeds: ChatRequest['needs'] = ['response_format'];

class TranslatedNative implements NativeRequest {
  readonly api: NativeRequest['api'];
  readonly body: string;
  readonly modelStart: number;
  readonly modelEnd: number;
  readonly names: NativeRequest['names'];
  readonly unset: NativeRequest['unset'];
  readonly keepsReasoning: boolean;

  constructor(
    own: OwnNative,
    private readonly translation: () => Translation,
    private readonly findTools: FindTools | undefined,
  ) {
    this.api = own.api;
    this.body = own.body;
    this.modelStart = own.modelStart;
    this.modelEnd = own.modelEnd;
    this.names = own.names;
    this.unset = own.unset;
    this.keepsReasoning = own.keepsReasoning === true;
  }

  get marked(): string | undefined {
    return this.translation().marked;
  }

  get inexpressible(): NativeRequest['inexpressible'] {
    return this.translation().inexpressible;
  }

  get optional(): NativeRequest['optional'] {
    return this.translation().optional;
  }

  get namespaces(): NativeRequest['namespaces'] {
    return this.translation().namespaces;
  }

  /** Only a route without a price for one of them asks. */
  get tools(): NativeRequest['tools'] {
    return this.findTools?.();
  }

  get echo(): string {
    return this.translation().echo ?? '';
  }

  plain(): NativeRequest {
    const { translation, findTools, ...own } = this;
    const { marked, inexpressible, optional, namespaces, echo = '' } = translation();
    return { ...own, marked, inexpressible, optional, namespaces, tools: findTools?.(), echo };
  }
}
