/** From what a call returned to what it means: plain branching over the kinds of result, words decided by `classify`. */
import { durationText } from '../base/duration.js';
import type { Route } from '../catalogue/route.js';
import { errorBytesMax } from './answer-head.js';
import type { CallResult } from './call.js';
import { classify, tellingText } from './classify/classify.js';
import type { Failure } from './failure.js';
import { messageIn, quoteOf } from './quote.js';

/** The failed kinds of result; the others are not failures. */
export type FailedResult = Extract<CallResult, { kind: 'refused' | 'malformed' | 'timeout' | 'connection' }>;

export function understand(result: FailedResult, route: Route): Failure {
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
      return refusal(result.status, result.body, route);
    case 'malformed':
      return malformed(result.status, result.reason, result.body, route);
  }
}

/** An error object that came inside a 2xx, in a body or in a frame. */
export function innerError(status: number, value: unknown, route: Route): Failure {
  const error = withoutAnswer(value);
  const meaning = classify({ status: innerStatus(error) ?? 200, text: tellingText(error), markup: false });
  const quote = quoted(messageIn(error) ?? 'it answered with an error', route);
  return { meaning: meaning === 'malformed' ? 'server_error' : meaning, status, quote };
}

/** Beside an answer only its error tells a meaning: the words of the answer are the model's own. */
function withoutAnswer(value: unknown): unknown {
  const { error, choices } = (value ?? {}) as { error?: unknown; choices?: unknown };
  if (!Array.isArray(choices)) return value;
  const inChoice = (choices as ({ error?: unknown } | null)[]).find((choice) => choice?.error)?.error;
  return { error: error ?? inChoice };
}

function refusal(status: number, body: Buffer, route: Route): Failure {
  const raw = body.toString('utf8');
  const markup = /^\s*<(?:!doctype|html|head|body|center|\?xml)/i.test(raw);
  const parsed = parse(raw);
  const text = parsed === undefined ? raw : tellingText(parsed);
  const meaning = status >= 300 && status < 400 ? 'malformed' : classify({ status, text, markup });
  const said = parsed === undefined ? raw.trim() : (messageIn(parsed) ?? raw.trim());
  const quote = said === '' ? `it answered with HTTP ${status} and no explanation` : `${said} (HTTP ${status})`;
  return { meaning, status, quote: quoted(quote, route) };
}

/** A JSON body where a stream was asked for is often an error in disguise (wire pitfall 6). */
function malformed(status: number, reason: string, body: Buffer, route: Route): Failure {
  // An error is short; parsing anything larger here would hold up others.
  const short = body.length <= errorBytesMax ? body.toString('utf8') : '';
  const parsed = parse(short) as { error?: unknown } | null | undefined;
  if (parsed && typeof parsed === 'object' && parsed.error) return innerError(status, parsed, route);
  return { meaning: 'malformed', status, quote: quoted(`${reason} (HTTP ${status})`, route) };
}

/** Some put the status that they mean into the error object. */
function innerStatus(error: unknown): number | undefined {
  const { error: inner } = (error ?? {}) as { error?: { code?: unknown; status?: unknown } };
  for (const candidate of [inner?.code, inner?.status]) {
    if (typeof candidate !== 'number' && typeof candidate !== 'string') continue;
    const status = Number(candidate);
    if (Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return undefined;
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
