/**
 * How much of a provider's answer is parsed. Text that is passed on as it is has no bound but its size: a completion with log
 * probabilities has millions of values, and is scanned (docs/decisions/0058-dear-answers.md).
 */
import { type JsonBounds, JsonMeasure, type JsonText, parseJsonBytes } from './json-text.js';

/** For what is parsed in a thread of its own: log probabilities of 7,000 tokens with 20 alternatives each. */
export const answerBounds: JsonBounds = { values: 1_000_000, names: 10_000 };
/** For what is parsed beside the requests of others: frames of a stream, and answers that are written anew for the client's API. */
export const mainThreadBounds: JsonBounds = { values: 400_000, names: 10_000 };
/** Smaller text holds too little to delay anybody, and is not nested deeply enough to exhaust the stack of what writes it again. */
const measuredBytes = 4 * 1024;
/** Usage, errors and names are short. Nothing larger of them is handed from thread to thread. */
export const figuresBytesMax = 64 * 1024;

/** The bound that an answer passes, as the end of "its answer …"; null where it passes none. */
export function excessOf(body: Uint8Array, bounds: JsonBounds): string | null {
  return body.length <= measuredBytes ? null : new JsonMeasure(bounds).add(body);
}

/** `excess`: it passes a bound. */
export interface MalformedAnswer {
  kind: 'malformed';
  reason: string;
  excess?: true;
}

/** Parses a whole answer that passes no bound. */
export function parseAnswerBytes(body: Buffer, bounds: JsonBounds): JsonText | MalformedAnswer {
  const excess = excessOf(body, bounds);
  if (excess !== null) return { kind: 'malformed', reason: `its answer ${excess}`, excess: true };
  try {
    return parseJsonBytes(body);
  } catch {
    return { kind: 'malformed', reason: 'its answer is not JSON' };
  }
}

const piece = Buffer.allocUnsafeSlow(64 * 1024);

/** The same for text of one byte a character, of which nothing is copied. */
export function excessOfText(text: string, start: number, end: number, bounds: JsonBounds): string | null {
  if (end - start <= measuredBytes) return null;
  const measure = new JsonMeasure(bounds);
  for (let at = start; at < end; at += piece.length) {
    const length = piece.write(text.slice(at, Math.min(end, at + piece.length)), 'latin1');
    const excess = measure.add(piece, length);
    if (excess !== null) return excess;
  }
  return null;
}
