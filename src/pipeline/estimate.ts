/** Estimates before the answer: about how many tokens a prompt has, and what the request may cost at most. */
import type { PicoUsd } from '../base/money.js';
import { ratesFor } from '../catalogue/price.js';
import { varies } from '../catalogue/price-moment.js';
import type { Route } from '../catalogue/route.js';
import type { ChatRequest } from '../wire/chat-request.js';

const bytesPerToken = 4;

/** Images, sound and files are sent in base64 and cost far fewer tokens than text of that length. */
const encodedBytesPerToken = 1024;

/** Smaller bodies are not searched for base64, because it makes little difference there. */
const lookedIntoFromBytes = 16 * 1024;
const blockBytes = 4096;
/** Text contains a blank, a quote or a non-ASCII character within this length. */
const sampleLength = 64;

const encodedCharacters = new Uint8Array(256);
// Some clients write `\/` for `/`, and some break lines with `\n`.
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\') {
  encodedCharacters[character.charCodeAt(0)] = 1;
}

/**
 * The tokens of a prompt from the length of its text: no parsing, no tokenizer, and at most a few milliseconds for the largest body. The
 * usage corrects the estimate after the answer.
 */
export function estimatePromptTokens(request: Pick<ChatRequest, 'members' | 'encoding' | 'task' | 'native'>): number {
  const { encoding, task, native } = request;
  if (task?.kind === 'embedding' && task.tokens !== undefined) return task.tokens;
  // The client's own body, which is latin1, in place of its translation, which may never be needed.
  if (native !== undefined) return tokensIn(native.body.length - (native.modelEnd - native.modelStart), native.body);
  const { members } = request;
  // A string read as latin1 has one character for each byte.
  const isDecoded = typeof members === 'string' && encoding === 'utf8';
  const bytes = isDecoded ? Buffer.byteLength(members) : members.length;
  // Embeddings and rerank have texts only, in which base64 is text like any other.
  return tokensIn(bytes, task === undefined ? members : '');
}

/** `searched` is what may have base64 in it. */
function tokensIn(bytes: number, searched: string | Buffer): number {
  const encoded = bytes < lookedIntoFromBytes ? 0 : encodedBytes(searched);
  return Math.max(1, Math.ceil((bytes - encoded) / bytesPerToken + encoded / encodedBytesPerToken));
}

/** Looks at one short sample of each block and takes it for the whole block. */
function encodedBytes(members: string | Buffer): number {
  let encoded = 0;
  for (let at = 0; at + blockBytes <= members.length; at += blockBytes) {
    if (isEncoded(members, at)) encoded += blockBytes;
  }
  return encoded;
}

function isEncoded(members: string | Buffer, from: number): boolean {
  for (let at = from; at < from + sampleLength; at++) {
    const code = typeof members === 'string' ? members.charCodeAt(at) : members[at]!;
    if (encodedCharacters[code] !== 1) return false;
  }
  return true;
}

/** For a model without a published limit, or a higher one, where the request names no bound itself. */
const outputTokensMax = 16_384;

export interface EstimatedRequest {
  readonly request: Pick<ChatRequest, 'outputMax' | 'choices' | 'extras' | 'task'>;
  readonly promptTokens: number;
  readonly atMs: number;
}

/**
 * What a request may cost at most, by the dearest of the routes that may serve it. This much of the balance is held while the request is in
 * flight.
 */
export function estimateCost(routes: readonly Route[], asked: EstimatedRequest): PicoUsd {
  let dearest = 0n;
  for (const route of asked.request.extras === undefined ? dearestOf(routes) : routes) {
    const cost = costOn(route, asked);
    if (cost > dearest) dearest = cost;
  }
  return dearest;
}

/** Lists are made once for a policy and a catalogue, except those that a request's own gates leave. */
const dearestByList = new WeakMap<readonly Route[], readonly Route[]>();

/** Without the routes that are never dearer than another one of the list. */
function dearestOf(routes: readonly Route[]): readonly Route[] {
  if (routes.length < 2) return routes;
  let dearest = dearestByList.get(routes);
  if (!dearest) {
    const kept: Route[] = [];
    for (const route of routes) if (!kept.some((other) => isDearer(other, route))) kept.push(route);
    dearest = kept;
    dearestByList.set(routes, dearest);
  }
  return dearest;
}

/** Whether a route costs at least as much as another for every request. Prices that vary are not compared. */
function isDearer(route: Route, other: Route): boolean {
  const [price, lower] = [route.price, other.price];
  if (!price || !lower || varies(price) || varies(lower)) return false;
  const isLonger =
    route.maxOutputTokens === null ||
    (other.maxOutputTokens !== null && route.maxOutputTokens >= other.maxOutputTokens);
  return (
    isLonger &&
    price.input >= lower.input &&
    price.output >= lower.output &&
    (price.request ?? 0n) >= (lower.request ?? 0n)
  );
}

function costOn({ price, maxOutputTokens }: Route, { request, promptTokens, atMs }: EstimatedRequest): PicoUsd {
  if (!price) return 0n;
  const { input, output, request: perRequest = 0n } = ratesFor(price, atMs, request.extras?.tier ?? null, promptTokens);
  // Embeddings and rerank have no output.
  const outputTokens = request.task === undefined ? outputBound(request.outputMax, maxOutputTokens) : 0;
  const once = BigInt(promptTokens) * input + BigInt(outputTokens) * output + perRequest;
  return request.choices === undefined ? once : once * BigInt(request.choices);
}

function outputBound(asked: number | undefined, modelMax: number | null): number {
  if (asked === undefined) return Math.min(modelMax ?? outputTokensMax, outputTokensMax);
  return modelMax === null ? asked : Math.min(asked, modelMax);
}
