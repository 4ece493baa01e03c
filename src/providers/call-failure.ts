/** Turns the result of a failed call into a Failure. What the text of an error means is read later, by classify/. */
import { durationText } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { ChatRequest } from '../wire/chat-request.js';
import { errorOf, isFields } from '../wire/message.js';
import type { CallResult } from './call-result.js';
import { errorInBody } from './classify/error-body.js';
import type { Failure, Meaning } from './classify/failure.js';
import { detailsIn, messageIn, quoteOf } from './classify/quote.js';
import { type Evidence, readFailure, type Verdict } from './classify/read-failure.js';
import { nothingSent, type SentTexts } from './classify/sent-strings.js';
import { meaningOfStatus } from './classify/statuses.js';
import { errorBytesMax, type ResponseHead } from './transport/response.js';

/** A failure whose meaning is in the upstream's error text, which has not been read yet. */
export interface UnreadFailure extends Omit<Failure, 'meaning'> {
  meaning: null;
  evidence: Evidence;
}

export function withVerdict({ evidence: _, ...failure }: UnreadFailure, { meaning, disputed }: Verdict): Failure {
  return { ...failure, meaning, ...(disputed && { disputed }) };
}

/** Reads the meaning in this thread. `sent` is the request, which the error may repeat. */
export function readFailureNow(failure: Failure | UnreadFailure, sent: SentTexts = nothingSent): Failure {
  return failure.meaning === null ? withVerdict(failure, readFailure(failure.evidence, sent)) : failure;
}

/** The kinds of result that are failures. */
type FailedResult = Extract<CallResult, { kind: 'refused' | 'malformed' | 'timeout' | 'connection' }>;

/** `request` is absent where nobody asked for the call, as in a check of a provider. */
export function failureOf(
  result: FailedResult,
  route: Route,
  nowMs: number = Date.now(),
  request?: ChatRequest,
): Failure | UnreadFailure {
  switch (result.kind) {
    case 'timeout':
      return expiredBudget(result);
    case 'connection':
      return {
        meaning: 'connection',
        status: result.status,
        quote: scrubbed(`the connection failed: ${result.reason}`, route),
      };
    case 'refused':
      return refusal(result.head, result.body, route, nowMs);
    case 'malformed':
      if (result.excess && request) return oversizedFailure(result.status, result.reason, request);
      return noAnswer(result.status, result.reason, result.body, route);
  }
}

export function expiredBudget({
  status,
  budget,
  budgetMs,
}: Omit<Extract<CallResult, { kind: 'timeout' }>, 'kind'>): Failure {
  const quote = `the ${budget} budget of ${durationText(budgetMs)} expired`;
  return { meaning: 'timeout', status, quote, budget: { name: budget, ms: budgetMs } };
}

/** An error object inside a 2xx: in a body, a stream frame or an exception. */
export function innerError(status: number, error: unknown, route: Route): UnreadFailure {
  const body = withoutAnswer(error);
  const quote = scrubbed(messageIn(body) ?? 'it answered with an error', route);
  return { meaning: null, status, quote, ...detailsOf(body, route), evidence: evidenceOf(200, body, [], route) };
}

/**
 * The failure of an answer that is larger, or holds more, than is read. Where the request may have asked for that much, it is not the
 * route's fault, and another route would answer alike.
 */
export function oversizedFailure(status: number, reason: string, request: ChatRequest): Failure {
  const quote = `${reason} (HTTP ${status})`;
  return { meaning: 'malformed', status, quote, ...(mayBeLarge(request) && { oversized: true }) };
}

/** Members that ask for more than one text. Calls of tools are objects in some APIs, and the model decides what they hold. */
const largeWords = [
  '"n"',
  '"logprobs"',
  '"top_logprobs"',
  '"modalities"',
  '"tools"',
  '"functions"',
  '"web_search_options"',
];

/** Whether an honest answer to the request may be large, or hold much. A text alone cannot: no model writes that many tokens. */
function mayBeLarge({ task, native, members }: ChatRequest): boolean {
  if (task?.kind === 'embedding') return task.inputs.length > 1;
  if (task?.kind === 'rerank') return task.documents.length > 1;
  const sent = native?.body ?? members;
  return largeWords.some((word) => sent.includes(word));
}

/** A 2xx whose body is not an answer. `reason` says why, unless the body itself holds an error. */
export function noAnswer(status: number, reason: string, body: Buffer, route: Route): Failure | UnreadFailure {
  // Errors are short. Parsing a large body in this thread would delay other requests.
  const error = body.length <= errorBytesMax ? errorInBody(body.toString('utf8')) : undefined;
  if (error !== undefined) return innerError(status, error, route);
  return { meaning: 'malformed', status, quote: scrubbed(`${reason} (HTTP ${status})`, route) };
}

/** The error without the answer beside it, because the text of an answer is written by the model. */
function withoutAnswer(value: unknown): unknown {
  if (!isFields(value) || !Array.isArray(value.choices) || value.choices.length === 0) return value;
  return { error: errorOf(value) };
}

/** Headers in which some providers send the error code. */
const codeHeaders = ['x-amzn-errortype', 'x-ms-error-code', 'x-error-code'];

function refusal(head: ResponseHead, body: Buffer, route: Route, nowMs: number): Failure | UnreadFailure {
  const { status } = head;
  const raw = body.subarray(0, errorBytesMax).toString('utf8').trim();
  const parsed = parse(raw) ?? raw;
  const message = messageIn(parsed) ?? raw;
  const quote = message === '' ? `it answered with HTTP ${status} and no explanation` : `${message} (HTTP ${status})`;
  const codes = codeHeaders.flatMap((name) => head.header(name)?.split(':', 1) ?? []);
  const waitMs = retryAfterMs((name) => head.header(name), nowMs);
  const known = { status, quote: scrubbed(quote, route), ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
  const meaning = pageMeaning(status, raw);
  if (meaning) return { ...known, meaning };
  return { ...known, ...detailsOf(parsed, route), meaning: null, evidence: evidenceOf(status, parsed, codes, route) };
}

function detailsOf(body: unknown, { provider, baseUrl }: Route): Pick<Failure, 'details'> {
  const details = detailsIn(body, provider, baseUrl);
  return details === undefined ? {} : { details };
}

/** A redirect, or an HTML page of a proxy: the provider did not write it, so only the status counts. */
function pageMeaning(status: number, raw: string): Meaning | undefined {
  if (status < 400) return 'malformed';
  if (!/^<(?:!doctype|html|head|body|center|h1|!--|\?xml)/i.test(raw)) return undefined;
  // A proxy that refuses a request for its size rejects the request itself.
  return status === 413 ? meaningOfStatus(status) : 'server_error';
}

function evidenceOf(
  status: number,
  body: unknown,
  headerCodes: readonly string[],
  { provider, baseUrl }: Route,
): Evidence {
  return { status, body, headerCodes, providerId: provider.id, baseUrl };
}

function scrubbed(text: string, route: Route): string {
  return quoteOf(text, route.provider, route.baseUrl);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The longest wait that is believed. */
const retryAfterMsMax = 24 * 60 * 60 * 1000;

/** How long the upstream asks clients to wait. Invalid values, zero and the past are ignored. */
export function retryAfterMs(header: (name: string) => string | undefined, nowMs: number): number | undefined {
  return (
    positiveMs(decimal(header('retry-after-ms'))) ??
    positiveMs(seconds(header('retry-after'))) ??
    positiveMs(untilDate(header('retry-after'), header('date'), nowMs))
  );
}

function decimal(text: string | undefined): number {
  return text !== undefined && /^\s*\d{1,15}(?:\.\d{1,9})?\s*$/.test(text) ? Number(text) : Number.NaN;
}

function seconds(text: string | undefined): number {
  return decimal(text) * 1000;
}

/** An HTTP date is a time of the upstream's clock, so its `date` header, if there is one, is the present. */
function untilDate(text: string | undefined, date: string | undefined, nowMs: number): number {
  const theirs = instant(date);
  return instant(text) - (Number.isNaN(theirs) ? nowMs : theirs);
}

function instant(text: string | undefined): number {
  return text !== undefined && /^\s*[a-z]{3,9},? [\w: -]{10,40}$/i.test(text) ? Date.parse(text) : Number.NaN;
}

function positiveMs(ms: number): number | undefined {
  return ms > 0 ? Math.min(Math.ceil(ms), retryAfterMsMax) : undefined;
}
