/** Finds an error in the body of a 2xx that is not an answer: an error object, a list of them, or a stream that begins with one. */
import { errorOf, type Fields, isErrorMember } from '../../wire/message.js';
import { parseObject } from './nested-error.js';

export function errorInBody(body: string): unknown {
  const text = body.trim();
  const value = parseObject(text);
  if (value !== undefined) return isErrorBody(value) ? value : undefined;
  return /^(?:data|event|id|retry|:)/.test(text) ? errorInFrames(text) : undefined;
}

/** Whether a JSON value is an error in one of the shapes that providers use, and not an answer in any dialect. */
export function isErrorBody(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && isErrorBody(value[0]);
  if (value === null || typeof value !== 'object') return false;
  const fields = value as Fields;
  if (errorOf(fields) !== undefined || isBlocked(fields.promptFeedback)) return true;
  if (holdsAnswer(fields)) return false;
  return (
    fields.type === 'error' ||
    fields.object === 'error' ||
    fields.success === false ||
    isErrorMember(fields.errors) ||
    present(fields.detail) ||
    present(fields.error_code) ||
    present(fields.__type) ||
    failedStatus(fields.base_resp) ||
    present(fields.message) ||
    present(fields.msg)
  );
}

function errorInFrames(text: string): unknown {
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue;
    const value = parseObject(line.slice(5).trim());
    if (value !== undefined && isErrorBody(value)) return value;
  }
  return undefined;
}

function holdsAnswer({ choices, candidates, output, content }: Fields): boolean {
  return [choices, candidates, content].some((list) => Array.isArray(list) && list.length > 0) || present(output);
}

function isBlocked(feedback: unknown): boolean {
  return present(feedback) && present((feedback as Fields).blockReason);
}

/** MiniMax always answers 200; a `status_code` of 0 means success. */
function failedStatus(response: unknown): boolean {
  return present(response) && present((response as Fields).status_code);
}

function present(value: unknown): boolean {
  return Boolean(value);
}
