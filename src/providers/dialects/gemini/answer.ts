/** Translates a whole GenerateContentResponse to a completion with one choice per candidate. */
import { isCutOff } from '../../../wire/finish-reason.js';
import type { TextEncoding } from '../../../wire/json-text.js';
import { errorAnswer } from '../chat-parts/completion.js';
import { type Fields, isFields } from '../chat-parts/conversation.js';
import type { TranslatedAnswer } from '../dialect.js';
import { CandidateParts, logprobsOf } from './parts.js';
import { finishReasonOf, isBrokenCall, usageOf } from './usage.js';

export function readAnswer(value: unknown, encoding: TextEncoding): TranslatedAnswer {
  // Errors may come in a list.
  if (isError(Array.isArray(value) ? value[0] : value)) return errorAnswer(value, encoding);
  if (!isFields(value)) return { kind: 'malformed', reason: 'its answer is not a JSON object' };
  const candidates = Array.isArray(value.candidates) ? value.candidates.filter(isFields) : [];
  if (candidates.length === 0) return { kind: 'malformed', reason: 'its answer has no candidates' };
  const choices = candidates.map((candidate, at) => choiceOf(candidate, at, encoding));
  if (choices.every((choice) => choice === null)) {
    return { kind: 'malformed', reason: `its answer is empty (${candidates[0]!.finishReason})` };
  }
  const usage = usageOf(value.usageMetadata);
  const answered = choices.filter((choice) => choice !== null);
  return { kind: 'completion', completion: { model: value.modelVersion, choices: answered, ...(usage && { usage }) } };
}

/** An error, or a blocked prompt, which has no candidates. */
export function isError(value: unknown): boolean {
  if (!isFields(value)) return false;
  if (isFields(value.error)) return true;
  const blocked = isFields(value.promptFeedback) && Boolean(value.promptFeedback.blockReason);
  return blocked && !(Array.isArray(value.candidates) && value.candidates.length > 0);
}

/** Null where the candidate holds only a broken call. */
function choiceOf(candidate: Fields, at: number, encoding: TextEncoding): Fields | null {
  const parts = new CandidateParts();
  const isCut = isCutOff(finishReasonOf(candidate.finishReason, false));
  const items = [...parts.read(candidate, encoding), ...parts.finish(encoding, isCut)];
  if (items.length === 0 && isBrokenCall(candidate.finishReason)) return null;
  const textOf = (wanted: string) =>
    items.map((part) => (part.kind === wanted && 'text' in part ? part.text : '')).join('');
  const calls = items.flatMap((part) => (part.kind === 'call' ? [part.call] : []));
  const content = textOf('text');
  const reasoning = textOf('thought');
  const message: Fields = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    index: candidate.index ?? at,
    message,
    logprobs: logprobsOf(candidate.logprobsResult, encoding),
    finish_reason: finishReasonOf(candidate.finishReason, calls.length > 0),
  };
}
