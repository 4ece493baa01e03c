/** Checks a whole completion of OpenAI's API and splits it into the members that are passed on and those that the gateway writes. */
import { asLatin1, encodeLatin1, type Latin1Text } from '../../../base/latin1.js';
import { answerBounds, type MalformedAnswer, parseAnswerBytes } from '../../../wire/answer-bounds.js';
import type { CompletionParts } from '../../../wire/completion-parts.js';
import { finishReasonMeant, isCutOff } from '../../../wire/finish-reason.js';
import { findMembers, keptMembers, memberValue } from '../../../wire/json-members.js';
import { type JsonText, readable, type TextEncoding } from '../../../wire/json-text.js';
import {
  dropPlaceholders,
  errorOf,
  type Fields,
  generatedText,
  isFields,
  tidyContent,
  tidyReasoning,
  tidyToolCalls,
} from '../../../wire/message.js';
import { isEmptyUsage, readUsage } from '../../../wire/usage.js';
import type { UsageTerms } from '../../../wire/usage-types.js';
import { isPassedOn } from './scan-completion.js';

export type CompletionReading =
  | { kind: 'completion'; parts: CompletionParts }
  /** A 2xx that holds an error. */
  | { kind: 'error'; error: unknown }
  | MalformedAnswer;

/** Clients of OpenRouter require this member; few providers send it. */
const noFingerprint = '"system_fingerprint":null';

export function parseCompletion(body: Buffer, terms: UsageTerms): CompletionReading {
  const json = parseAnswerBytes(body, answerBounds);
  if ('kind' in json) return json;
  const { value } = json;
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  return errorOf(value) !== undefined ? errorIn(json) : partsOf(value, json, terms);
}

/** A completion that was translated from another API, in the encoding of that answer. `native` is the answer where the client gets it. */
export function readTranslation(
  completion: Fields,
  { encoding, native }: { readonly encoding: TextEncoding; readonly native: string | undefined },
  terms: UsageTerms,
): CompletionReading {
  return partsOf(completion, { value: completion, text: null, encoding, native }, terms);
}

interface Source extends Pick<JsonText, 'value' | 'encoding'> {
  /** null where the completion was never a text. */
  readonly text: string | null;
  readonly native?: string | undefined;
}

function partsOf(value: Fields, source: Source, terms: UsageTerms): CompletionReading {
  const { text, encoding, native } = source;
  const { choices, usage, model } = value;
  if (!Array.isArray(choices) || choices.length === 0)
    return { kind: 'malformed', reason: 'its answer has no choices' };
  let changed = false;
  for (let position = 0; position < choices.length; position++) {
    const choice: unknown = choices[position];
    if (!isFields(choice) || !hasMessage(choice))
      return { kind: 'malformed', reason: 'its answer has a choice without a message' };
    if (tidyChoice(choice, position)) changed = true;
    if (choice.finish_reason === 'error') return errorIn(source);
  }
  const reading = readUsage(usage, terms, value.service_tier);
  const delivered = isEmptyUsage(reading) ? deliveredIn(choices as Fields[], encoding) : asLatin1('');
  const found = changed || text === null ? null : findMembers(text);
  const members = found ? keptMembers(text!, found, isPassedOn) : native === undefined ? serialisedMembers(value) : '';
  return {
    kind: 'completion',
    parts: {
      members: native !== undefined || 'system_fingerprint' in value ? members : `${members},${noFingerprint}`,
      encoding: native === undefined ? encoding : 'latin1',
      native,
      usage,
      reading,
      usageText: found ? memberValue(text!, found, 'usage') : undefined,
      answeredModel: model,
      finishReason: (choices[0] as Fields).finish_reason as string,
      delivered,
    },
  };
}

/** A filtered choice may have only a finish reason. A few servers answer in the shape of a stream or of older APIs. */
function hasMessage({ message, delta, text, finish_reason }: Fields): boolean {
  if (isFields(message) || isFields(delta) || typeof text === 'string') return true;
  return finishReasonMeant(finish_reason) === 'content_filter';
}

/** Brings a choice into OpenAI's shape. Returns true where something changed. */
function tidyChoice(choice: Fields, position: number): boolean {
  let changed = false;
  if (!Number.isInteger(choice.index)) {
    choice.index = position;
    changed = true;
  }
  if (!isFields(choice.message)) {
    choice.message = isFields(choice.delta) ? choice.delta : { content: choice.text ?? null, refusal: null };
    changed = true;
  }
  const message = choice.message as Fields;
  if (message.role !== 'assistant') {
    message.role = 'assistant';
    changed = true;
  }
  if (message.content === undefined) {
    message.content = null;
    changed = true;
  }
  if (tidyContent(message)) changed = true;
  if (tidyReasoning(message, true)) changed = true;
  if (dropPlaceholders(message)) changed = true;
  const given = finishReasonMeant(choice.finish_reason);
  if (tidyToolCalls(message, isCutOff(given))) changed = true;
  const meant = given ?? defaultReason(message);
  if (meant !== choice.finish_reason) {
    choice.finish_reason = meant;
    changed = true;
  }
  return changed;
}

/** A whole answer is complete, so without a reason it ended normally. */
function defaultReason({ tool_calls: calls }: Fields): string {
  return Array.isArray(calls) && calls.length > 0 ? 'tool_calls' : 'stop';
}

/** People read the error, so it is decoded from latin1. */
function errorIn({ value, text, encoding }: Source): CompletionReading {
  return { kind: 'error', error: JSON.parse(readable(text ?? JSON.stringify(value), encoding)) };
}

function serialisedMembers(value: Fields): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([key]) => isPassedOn(key)))).slice(1, -1);
}

/** What the choices hold, as the inside of a JSON string. */
function deliveredIn(choices: Fields[], encoding: TextEncoding): Latin1Text {
  const text = choices.map(({ message }) => generatedText(message as Fields)).join('');
  const inside = JSON.stringify(text).slice(1, -1);
  return encoding === 'latin1' ? asLatin1(inside) : encodeLatin1(inside);
}
