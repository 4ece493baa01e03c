/**
 * What a route does with a request of another API than chat completions: it speaks that API and gets the body as the client wrote it (a
 * native pass), or gets the translation, in which some things may be left out and others cannot be expressed.
 */
import { asLatin1, copyLatin1 } from '../base/latin1.js';
import { priceAt } from '../catalogue/price.js';
import type { Provider, Route } from '../catalogue/route.js';
import type { ChatRequest, Inexpressible, SpokenApi } from '../wire/chat-request.js';
import type { CompletionParts } from '../wire/completion-parts.js';
import type { OutgoingBody } from '../wire/outgoing-body.js';
import { bitsOf, fieldsOf, noTurns, partialBits } from '../wire/partial-fields.js';
import type { Task } from '../wire/task.js';
import type { UsageTerms } from '../wire/usage-types.js';
import { cutsOf, withChanges } from './cut-tools.js';
import { readAnswer as readMessage } from './dialects/anthropic/answer.js';
import { scanMessage } from './dialects/anthropic/scan-answer.js';
import { MessageStream } from './dialects/anthropic/stream.js';
import type { Dialect, NativeAsk, OutgoingCall } from './dialects/dialect.js';
import { dialectOf } from './dialects/registry.js';
import { readCompaction, readResponse } from './dialects/responses/answer.js';
import { scanResponse } from './dialects/responses/scan-answer.js';
import { ResponseStream } from './dialects/responses/stream.js';

const nothing: readonly string[] = [];

type Speaker = Pick<Provider, 'dialect' | 'apis'>;

export function isNativePass({ dialect, apis }: Speaker, { native }: Pick<ChatRequest, 'native'>): boolean {
  if (native === undefined) return false;
  return dialectOf(dialect).speaks === native.api || apis?.includes(native.api) === true;
}

/** Whether the client of a native pass reads `error.details`. */
export function takesErrorDetails(speaker: Speaker, request: Pick<ChatRequest, 'native'>): boolean {
  return isNativePass(speaker, request) && nativeApis[request.native!.api]?.hasErrorDetails === true;
}

/**
 * The call of a native pass: the client's body with the route's model in it or in the path, and without the tools that have no price at the
 * time of the request.
 */
export function nativeCall(
  request: Pick<ChatRequest, 'native' | 'extras'>,
  route: Route,
  ask: NativeAsk,
  atMs: number,
): OutgoingCall {
  const { api, body, modelStart, modelEnd, tools } = request.native!;
  const { modelInPath, pathOf } = dialectOf(route.provider.dialect);
  const model = asciiJson(route.upstreamModel);
  const left = unpricedTools(route, request, atMs);
  const outgoing = (start: number, text: string): OutgoingBody =>
    left.length > 0
      ? withChanges(body, [...cutsOf(body, tools!, left), { start, end: modelEnd, text: asLatin1(text) }])
      : spliced(body, start, modelEnd, text);
  if (modelInPath !== undefined) {
    const path = modelInPath.path(route.upstreamModel, ask);
    return { path, body: outgoing(memberStart(body, modelStart), modelInPath.members(model, ask)) };
  }
  const path = pathOf?.(api, route) ?? nativeApis[api]!.path;
  return { path: ask === 'count' ? `${path}/count_tokens` : path, body: outgoing(modelStart, model) };
}

function spliced(body: string | Buffer, start: number, end: number, text: string): OutgoingBody {
  if (typeof body === 'string') return asLatin1(body.slice(0, start) + text + body.slice(end));
  return [body.subarray(0, start), Buffer.from(text, 'latin1'), body.subarray(end)];
}

const quote = 0x22;

/** Where the name of a member begins. Names that mean `model` have no quote inside, whatever else is escaped. */
function memberStart(body: string | Buffer, valueStart: number): number {
  const isQuote = (at: number) => (typeof body === 'string' ? body.charCodeAt(at) : body[at]) === quote;
  let at = valueStart - 1;
  for (let quotes = 0; at > 0; at--) if (isQuote(at) && ++quotes === 2) break;
  return at;
}

const beyondAscii = /[^\u0020-\u007e]/;
const allBeyondAscii = new RegExp(beyondAscii, 'g');

function asciiJson(text: string): string {
  const json = JSON.stringify(text);
  if (!beyondAscii.test(json)) return json;
  return json.replace(allBeyondAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const headerMax = 1024;

/** The headers of a native pass: the API's own ones go on with it, in place of the dialect's. */
export function nativeHeaders(
  headers: readonly string[],
  api: SpokenApi,
  header: (name: string) => string | undefined,
): readonly string[] {
  let sent = headers;
  for (const name of nativeApis[api]!.headers) {
    const value = header(name);
    if (value !== undefined && value.length <= headerMax) sent = withHeader(sent, name, value);
  }
  return sent;
}

/** Lists that were made of others, by the text of what was changed: the transport keeps what it wrote for a list that it knows. */
const changedHeaders = new WeakMap<readonly string[], Map<string, readonly string[]>>();
const changesMax = 32;

function withHeader(headers: readonly string[], name: string, value: string): readonly string[] {
  const at = headers.indexOf(name);
  if (at !== -1 && headers[at + 1] === value) return headers;
  const changes = changedHeaders.get(headers) ?? new Map<string, readonly string[]>();
  const known = changes.get(`${name}:${value}`);
  if (known !== undefined) return known;
  // A part of the request's head would keep all of it in memory.
  const kept = copyLatin1(asLatin1(value));
  const made = at === -1 ? [...headers, name, kept] : headers.with(at + 1, kept);
  // Clients choose the values, so they may be many.
  if (changes.size >= changesMax) changes.clear();
  changes.set(`${name}:${kept}`, made);
  changedHeaders.set(headers, changes);
  return made;
}

const limit = '"max_tokens"';
const ownServers = /^https?:\/\/[^/]*\bopenai\.(?:com|azure\.com)\b/;

/** The translation for a route: with cache markers and signed reasoning where it can express them. */
export function translationFor(request: ChatRequest, { provider: { dialect }, baseUrl }: Route): ChatRequest {
  const { native } = request;
  if (native === undefined) return request;
  const { members, partial } = request;
  if (native.marked !== undefined && dialectOf(dialect).words.has('thinking')) {
    return { ...request, partial, members: native.marked };
  }
  // Chat completions renamed the limit. OpenAI's own models refuse the older name, and other servers may not know the newer one.
  if (!ownServers.test(baseUrl) || typeof members !== 'string' || !members.startsWith(limit)) return request;
  return { ...request, partial, members: `"max_completion_tokens"${members.slice(limit.length)}` };
}

type AskedFields = Pick<ChatRequest, 'native' | 'task' | 'partial' | 'extras' | 'members' | 'encoding'>;
type AskedRoute = Pick<Route, 'provider' | 'unsupportedParameters' | 'baseUrl' | 'upstreamModel' | 'price'>;

/** What a route leaves out of a request, by the client's names. `atMs` is the time of the request, which chooses the price. */
export function omittedOn(route: AskedRoute, request: AskedFields, atMs: number): readonly string[] {
  const { native, task } = request;
  if (task !== undefined) return omittedOfTask(route, task);
  if (native === undefined) {
    const bits = omittedBits(route, request);
    return bits === 0 ? nothing : fieldsOf(bits);
  }
  if (isNativePass(route.provider, request)) {
    const tools = unpricedTools(route, request, atMs).map((name) => `tools.${name}`);
    return native.unset === undefined ? tools : [...native.unset, ...tools];
  }
  const fields = fieldsOf(omittedBits(route, request)).map((name) => native.names[name] ?? name);
  const { words } = dialectOf(route.provider.dialect);
  const dropped: readonly string[] = route.unsupportedParameters ?? [];
  const left = native.optional.filter(({ word }) => word === null || !words.has(word) || dropped.includes(word));
  return [...new Set([...left.map(({ name }) => name), ...fields])];
}

/** Tools that a route leaves out of a native pass, because it has no price for them and the request does not demand them. */
export function unpricedTools(
  { price }: Pick<Route, 'price'>,
  { native, extras }: Pick<ChatRequest, 'native' | 'extras'>,
  atMs: number,
): readonly string[] {
  if (extras === undefined || extras.tools.length === 0) return nothing;
  const priced = price === null ? undefined : priceAt(price, atMs).tools;
  const unpriced = extras.tools.filter((name) => !priced?.has(name));
  if (unpriced.length === 0) return nothing;
  const entries = native?.tools?.entries ?? [];
  return unpriced.filter((name) => entries.some((entry) => entry.name === name));
}

/** The bits of the fields of a request that a route leaves out. Most requests have none, and most dialects leave out nothing. */
function omittedBits(route: AskedRoute, request: AskedFields): number {
  const { partial = 0 } = request;
  if (partial === 0) return 0;
  const { unsupportedParameters: unsupported, provider } = route;
  const omitted =
    (dialectOf(provider.dialect).omits?.(request, route) ?? 0) | (unsupported === undefined ? 0 : bitsOf(unsupported));
  const found = partial & omitted;
  const { cache_control: markers } = partialBits;
  return (found & markers) !== 0 && !mentions(request, '"cache_control"') ? found & ~markers : found;
}

function mentions({ members, encoding }: AskedFields, text: string): boolean {
  return typeof members === 'string' ? members.includes(text) : members.includes(text, 0, encoding);
}

/** Whether a route cannot take the conversation, because it leaves out messages that say nothing, and these are all. */
export function hasNoTurnOn(route: AskedRoute, request: AskedFields): boolean {
  return ((request.partial ?? 0) & noTurns) !== 0 && (omittedBits(route, request) & noTurns) !== 0;
}

const user: readonly string[] = ['user'];

/** What a route leaves out of a request that is no chat. */
export function omittedOfTask(
  { provider, baseUrl }: Pick<Route, 'provider' | 'baseUrl'>,
  task: Task,
): readonly string[] {
  if (task.kind !== 'embedding' || task.user === undefined) return nothing;
  return dialectOf(provider.dialect).embedding?.takesUser?.(baseUrl) ? nothing : user;
}

/** The first thing of a request that a route cannot express; undefined where it can express all of it. */
export function inexpressibleOn(
  route: Route,
  request: AskedFields & Pick<ChatRequest, 'strict'>,
  atMs: number,
): Inexpressible | undefined {
  const { native } = request;
  if (native === undefined || isNativePass(route.provider, request)) return undefined;
  const { words } = dialectOf(route.provider.dialect);
  const found = native.inexpressible.find(({ word }) => word === undefined || !words.has(word));
  return found ?? leftOutOf(route, request, atMs);
}

/** The first thing that a route would leave out of a strict request. */
export function leftOutOf(
  route: Route,
  request: AskedFields & Pick<ChatRequest, 'strict'>,
  atMs: number,
): Pick<Inexpressible, 'param'> | undefined {
  const [omitted] = request.strict ? omittedOn(route, request, atMs) : nothing;
  return omitted === undefined ? undefined : { param: omitted };
}

/**
 * A client API that providers may speak themselves. Its answers are passed on as they are; they are also read as completions, for the
 * bill and for the rules of a stream.
 */
interface NativeApi {
  /** Appended to the route's base address, unless its dialect says otherwise. */
  readonly path: string;
  /** Headers of the client that go on to the provider, in lower case. */
  readonly headers: readonly string[];
  /** Its errors have a member `details`, by which clients decide how to go on. */
  readonly hasErrorDetails?: true;
  readonly readAnswer: NonNullable<Dialect['readAnswer']>;
  /** Reads the usual answer without parsing it, with the same result; null where it is not the usual one. */
  readonly scanAnswer?: (body: Buffer, terms: UsageTerms) => CompletionParts | null;
  readonly createStreamTranslator: NonNullable<Dialect['createStreamTranslator']>;
}

export const nativeApis: Readonly<Partial<Record<SpokenApi, NativeApi>>> = {
  messages: {
    path: '/messages',
    headers: ['anthropic-version', 'anthropic-beta'],
    hasErrorDetails: true,
    readAnswer: readMessage,
    scanAnswer: scanMessage,
    createStreamTranslator: () => new MessageStream(),
  },
  responses: {
    path: '/responses',
    headers: [],
    readAnswer: readResponse,
    scanAnswer: scanResponse,
    createStreamTranslator: () => new ResponseStream(),
  },
  compact: {
    path: '/responses/compact',
    headers: [],
    readAnswer: readCompaction,
    createStreamTranslator: () => new ResponseStream(),
  },
};

const apis = Object.keys(nativeApis) as SpokenApi[];
const formats = new Map(apis.map((api) => [api, `native:${api}`]));
const apisByFormat = new Map(apis.map((api) => [`native:${api}`, nativeApis[api]]));

/** Names the format of an answer for the reader, which may run in another thread. */
export function nativeFormat(api: SpokenApi): string {
  return formats.get(api)!;
}

/** The API of such a name; undefined for the name of a dialect. */
export function nativeApiIn(format: string): NativeApi | undefined {
  return apisByFormat.get(format);
}
