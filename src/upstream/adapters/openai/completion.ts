/** OpenAI's dialect, from the provider: a whole completion is checked and taken apart into what is kept and what is ours. */
import { finishReasonMeant } from '../../../wire/finish-reason.js';
import { findMembers, keptMembers, memberValue } from '../../../wire/json-members.js';
import { type JsonText, parseJsonBytes, readable, type TextEncoding } from '../../../wire/json-text.js';
import { argumentsAsText } from '../../../wire/tool-call-deltas.js';
import { readUsage } from '../../../wire/usage.js';
import { type CompletionParts, isPassedOn } from './completion-parts.js';

export type CompletionReading =
  | { kind: 'completion'; parts: CompletionParts }
  /** A 2xx that holds an error is one (wire pitfall 7). */
  | { kind: 'error'; error: unknown }
  | { kind: 'malformed'; reason: string };

type Fields = Record<string, unknown>;

export function readCompletion(body: Buffer): CompletionReading {
  let json: JsonText;
  try {
    json = parseJsonBytes(body);
  } catch {
    return { kind: 'malformed', reason: 'its answer is not JSON' };
  }
  const { value, text, encoding } = json;
  if (!isObject(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  if (value.error !== undefined && value.error !== null) return errorIn(json);
  const { choices, usage, model } = value;
  if (!Array.isArray(choices) || choices.length === 0)
    return { kind: 'malformed', reason: 'its answer has no choices' };
  let changed = false;
  for (const choice of choices) {
    if (!isObject(choice) || !isObject(choice.message))
      return { kind: 'malformed', reason: 'its answer has a choice without a message' };
    if (inOpenAiWords(choice, choice.message)) changed = true;
    if (choice.finish_reason === 'error') return errorIn(json);
  }
  const reading = readUsage(usage);
  const delivered = reading.kind === 'absent' ? generatedText(choices as Fields[], encoding) : '';
  const found = changed ? null : findMembers(text);
  const finish = (choices[0] as Fields).finish_reason;
  return {
    kind: 'completion',
    parts: {
      members: found ? keptMembers(text, found, isPassedOn) : serialised(value),
      encoding,
      usage,
      reading,
      usageText: found ? memberValue(text, found, 'usage') : undefined,
      answeredModel: model,
      finishReason: typeof finish === 'string' ? finish : null,
      delivered,
    },
  };
}

/** Servers of this dialect have words and shapes of their own for some things (wire 0 and 7). True where something was changed. */
function inOpenAiWords(choice: Fields, { tool_calls }: Fields): boolean {
  const { finish_reason: written } = choice;
  const calls = Array.isArray(tool_calls) ? tool_calls.filter(isObject) : [];
  const tidied = calls.filter(argumentsAsText);
  if (typeof written === 'string' && written !== '') choice.finish_reason = finishReasonMeant(written);
  return tidied.length > 0 || choice.finish_reason !== written;
}

/** What an error says is read by people: as the text that it was meant to be. */
function errorIn({ text, encoding }: JsonText): CompletionReading {
  return { kind: 'error', error: JSON.parse(readable(text, encoding)) };
}

function serialised(value: Fields): string {
  return JSON.stringify(Object.fromEntries(Object.entries(value).filter(([key]) => isPassedOn(key)))).slice(1, -1);
}

function generatedText(choices: Fields[], encoding: TextEncoding): string {
  let text = '';
  for (const { message } of choices) {
    const { content, refusal, reasoning_content, reasoning, tool_calls } = message as Fields;
    for (const piece of [content, refusal, reasoning_content, reasoning]) if (typeof piece === 'string') text += piece;
    if (Array.isArray(tool_calls)) text += JSON.stringify(tool_calls);
  }
  const inside = JSON.stringify(text).slice(1, -1);
  return encoding === 'latin1' ? inside : Buffer.from(inside, 'utf8').toString('latin1');
}

function isObject(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
