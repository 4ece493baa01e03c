/** Reads a whole answer in any dialect and splits the completion into the parts that the gateway needs. */
import { type JsonText, parseJsonBytes } from '../wire/json-text.js';
import type { UsageTerms } from '../wire/usage.js';
import type { Dialect } from './dialects/dialect.js';
import { nativeApiIn } from './dialects/native-apis.js';
import { type CompletionReading, readCompletion, readTranslation } from './dialects/openai/completion.js';
import { dialectOf } from './dialects/registry.js';

/** `format` is a dialect, or names the client's own API, whose answers are kept whole. The usual ones of these are not parsed. */
export function readAnswer(body: Buffer, format: string, terms: UsageTerms): CompletionReading {
  const parts = nativeApiIn(format)?.scanAnswer?.(body, terms);
  return parts ? { kind: 'completion', parts } : parseAnswer(body, format, terms);
}

export function parseAnswer(body: Buffer, format: string, terms: UsageTerms): CompletionReading {
  const native = nativeApiIn(format);
  if (native) return readTranslated(body, native.readAnswer, terms, true);
  const translate = dialectOf(format).readAnswer;
  return translate ? readTranslated(body, translate, terms) : readCompletion(body, terms);
}

function readTranslated(
  body: Buffer,
  translate: NonNullable<Dialect['readAnswer']>,
  terms: UsageTerms,
  isPassed = false,
): CompletionReading {
  let json: JsonText;
  try {
    json = parseJsonBytes(body);
  } catch {
    return { kind: 'malformed', reason: 'its answer is not JSON' };
  }
  const { value, text, encoding } = json;
  const answer = translate(value, encoding);
  if (answer.kind !== 'completion') return answer;
  const native = !isPassed ? undefined : encoding === 'latin1' ? text : body.toString('latin1');
  return readTranslation(answer.completion, { encoding, native }, terms);
}
