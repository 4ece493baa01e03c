/** A whole answer in any dialect becomes a completion taken apart. */

import { type JsonText, parseJsonBytes } from '../wire/json-text.js';
import type { UsageTerms } from '../wire/usage.js';
import type { Adapter } from './dialects/dialect.js';
import { type CompletionReading, readCompletion } from './dialects/openai/completion.js';
import { adapterOf } from './dialects/registry.js';

export function readAnswer(body: Buffer, dialect: string, terms: UsageTerms): CompletionReading {
  const { answer } = adapterOf(dialect);
  return answer ? translated(body, answer, terms) : readCompletion(body, terms);
}

function translated(body: Buffer, answer: NonNullable<Adapter['answer']>, terms: UsageTerms): CompletionReading {
  let json: JsonText;
  try {
    json = parseJsonBytes(body);
  } catch {
    return { kind: 'malformed', reason: 'its answer is not JSON' };
  }
  const reading = answer(json.value, json.encoding);
  if (reading.kind !== 'completion') return reading;
  return readCompletion(Buffer.from(JSON.stringify(reading.completion), json.encoding), terms);
}
