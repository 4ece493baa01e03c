/** From what a call returned to the failure that it is: plain branching over the kinds of result. What a text means is read later. */
import { durationText } from '../base/time.js';
import type { Route } from '../catalogue/route.js';
import type { CallResult } from './call.js';
import { errorIn } from './classify/error-in.js';
import type { Failure, Meaning } from './classify/failure.js';
import { messageIn, quoteOf } from './classify/quote.js';
import { type Evidence, readFailure, type Verdict } from './classify/read-failure.js';
import { retryAfterMs } from './classify/retry-after.js';
import { nothingSent, type SentTexts } from './classify/sent-strings.js';
import { meaningOfStatus } from './classify/statuses.js';
import { type AnswerHead, errorBytesMax } from './transport/answer-head.js';

/** A failure whose meaning is in what the upstream said. */
export interface UnreadFailure extends Omit<Failure, 'meaning'> {
  meaning: null;
  evidence: Evidence;
}

export function withVerdict({ evidence: _, ...failure }: UnreadFailure, { meaning, disputed }: Verdict): Failure {
  return { ...failure, meaning, ...(disputed && { disputed }) };
}

/** The failure with its meaning, read at once beside what was sent. */
export function readNow(failure: Failure | UnreadFailure, sent: SentTexts = nothingSent): Failure {
  return failure.meaning === null ? withVerdict(failure, readFailure(failure.evidence, sent)) : failure;
}

/** The failed kinds of result; the others are not failures. */
export type FailedResult = Extract<CallResult, { kind: 'refused' | 'malformed' | 'timeout' | 'connection' }>;

export function understand(result: FailedResult, route: Route, nowMs: number = Date.now()): Failure | UnreadFailure {
  switch (result.kind) {
    case 'timeout':
      return expiredBudget(result);
    case 'connection':
      return {
        meaning: 'connection',
        status: result.status,
        quote: quoted(`the connection failed: ${result.reason}`, route),
      };
    case 'refused':
      return refusal(result.head, result.body, route, nowMs);
    case 'malformed':
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

/** An error object that came inside a 2xx, in a body, a frame or an exception: it means what it says. */
export function innerError(status: number, error: unknown, route: Route): UnreadFailure {
  const body = withoutAnswer(error);
  const quote = quoted(messageIn(body) ?? 'it answered with an error', route);
  return { meaning: null, status, quote, evidence: evidenceOf(200, body, [], route) };
}

/** A 2xx whose body is no answer; `reason` says why, where the body itself does not. */
export function noAnswer(status: number, reason: string, body: Buffer, route: Route): Failure | UnreadFailure {
  // An error is short; parsing anything larger here would hold up others.
  const error = body.length <= errorBytesMax ? errorIn(body.toString('utf8')) : undefined;
  if (error !== undefined) return innerError(status, error, route);
  return { meaning: 'malformed', status, quote: quoted(`${reason} (HTTP ${status})`, route) };
}

/** Beside an answer only its error tells a meaning: the words of the answer are the model's own. */
function withoutAnswer(value: unknown): unknown {
  const { error, choices } = (value ?? {}) as { error?: unknown; choices?: unknown };
  if (!Array.isArray(choices)) return value;
  const inChoice = (choices as ({ error?: unknown } | null)[]).find((choice) => choice?.error)?.error;
  return { error: error ?? inChoice };
}

/** Where some write what the body leaves out. */
const codeHeaders = ['x-amzn-errortype', 'x-ms-error-code', 'x-error-code'];

function refusal(head: AnswerHead, body: Buffer, route: Route, nowMs: number): Failure | UnreadFailure {
  const { status } = head;
  const raw = body.subarray(0, errorBytesMax).toString('utf8').trim();
  const parsed = parse(raw) ?? raw;
  const said = messageIn(parsed) ?? raw;
  const quote = said === '' ? `it answered with HTTP ${status} and no explanation` : `${said} (HTTP ${status})`;
  const codes = codeHeaders.flatMap((name) => head.header(name)?.split(':', 1) ?? []);
  const waitMs = retryAfterMs((name) => head.header(name), nowMs);
  const known = { status, quote: quoted(quote, route), ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
  const meaning = pageMeaning(status, raw);
  if (meaning) return { ...known, meaning };
  return { ...known, meaning: null, evidence: evidenceOf(status, parsed, codes, route) };
}

/** A redirect, or the front page of a proxy: not the provider's own words, so only its status counts. */
function pageMeaning(status: number, raw: string): Meaning | undefined {
  if (status < 400) return 'malformed';
  if (!/^<(?:!doctype|html|head|body|center|h1|!--|\?xml)/i.test(raw)) return undefined;
  // A proxy that will not pass the request on for its size rejects the request.
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

function quoted(text: string, route: Route): string {
  return quoteOf(text, route.provider, route.baseUrl);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
