/** From what a call returned to what it means: plain branching over the kinds of result, the meaning decided by `classify`. */
import { durationText } from '../base/duration.js';
import type { Route } from '../catalogue/route.js';
import { type AnswerHead, errorBytesMax } from './answer-head.js';
import type { CallResult } from './call.js';
import { classify, statusMeant } from './classify/classify.js';
import { errorIn } from './classify/error-in.js';
import { familyOf } from './classify/families.js';
import { retryAfterMs } from './classify/retry-after.js';
import { gather } from './classify/said.js';
import { meaningOfStatus } from './classify/statuses.js';
import type { Failure, Meaning } from './failure.js';
import { messageIn, quoteOf } from './quote.js';

/** The failed kinds of result; the others are not failures. */
export type FailedResult = Extract<CallResult, { kind: 'refused' | 'malformed' | 'timeout' | 'connection' }>;

export function understand(result: FailedResult, route: Route, nowMs: number = Date.now()): Failure {
  switch (result.kind) {
    case 'timeout':
      return {
        meaning: 'timeout',
        status: result.status,
        quote: `the ${result.budget} budget of ${durationText(result.budgetMs)} expired`,
        budget: { name: result.budget, ms: result.budgetMs },
      };
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

/** An error object that came inside a 2xx, in a body, a frame or an exception: it means what it says (contract 4.1). */
export function innerError(status: number, error: unknown, route: Route): Failure {
  const told = withoutAnswer(error);
  const meaning = meaningOf(200, told, [], route);
  return { meaning, status, quote: quoted(messageIn(told) ?? 'it answered with an error', route) };
}

/** A 2xx whose body is no answer; `reason` says why, where the body itself does not (wire pitfalls 6 and 7). */
export function noAnswer(status: number, reason: string, body: Buffer, route: Route): Failure {
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

function refusal(head: AnswerHead, body: Buffer, route: Route, nowMs: number): Failure {
  const { status } = head;
  const raw = body.subarray(0, errorBytesMax).toString('utf8').trim();
  const parsed = parse(raw) ?? raw;
  const said = messageIn(parsed) ?? raw;
  const quote = said === '' ? `it answered with HTTP ${status} and no explanation` : `${said} (HTTP ${status})`;
  const codes = codeHeaders.flatMap((name) => head.header(name)?.split(':', 1) ?? []);
  const meaning = pageMeaning(status, raw) ?? meaningOf(status, parsed, codes, route);
  const waitMs = retryAfterMs((name) => head.header(name), nowMs);
  return { meaning, status, quote: quoted(quote, route), ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
}

/** A redirect, or the front page of a proxy: not the provider's own words, so only its status counts. */
function pageMeaning(status: number, raw: string): Meaning | undefined {
  if (status < 400) return 'malformed';
  if (!/^<(?:!doctype|html|head|body|center|h1|!--|\?xml)/i.test(raw)) return undefined;
  // A proxy that will not pass the request on for its size rejects the request.
  return status === 413 ? meaningOfStatus(status) : 'server_error';
}

function meaningOf(
  status: number,
  body: unknown,
  headerCodes: readonly string[],
  { provider, baseUrl }: Route,
): Meaning {
  const warily = gather({ body, headerCodes, trusting: false });
  const rejection = meaningOfStatus(statusMeant(status, warily.status)) === 'rejected';
  const said = rejection ? warily : gather({ body, headerCodes, trusting: true });
  return classify({ status, said, family: familyOf(said.family, provider.id, baseUrl) });
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
