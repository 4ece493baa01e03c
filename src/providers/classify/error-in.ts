/** Finds the error in the body of a 2xx that is no answer: an error object, a list of them, or a stream that begins with one. */
import { parsed } from './nested.js';

type Fields = Record<string, unknown>;

export function errorIn(body: string): unknown {
  const text = body.trim();
  const value = parsed(text);
  if (value !== undefined) return saysError(value) ? value : undefined;
  return /^(?:data|event|id|retry|:)/.test(text) ? errorInFrames(text) : undefined;
}

/** True where a JSON value is an error in one of the envelopes that providers use, and no answer of any dialect. */
export function saysError(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && saysError(value[0]);
  if (value === null || typeof value !== 'object') return false;
  const fields = value as Fields;
  if (present(fields.error) || isBlocked(fields.promptFeedback)) return true;
  if (holdsAnswer(fields)) return false;
  return (
    fields.type === 'error' ||
    fields.object === 'error' ||
    fields.success === false ||
    present(fields.errors) ||
    present(fields.detail) ||
    present(fields.error_code) ||
    present(fields.__type) ||
    failedStatus(fields.base_resp) ||
    ((present(fields.message) || present(fields.msg)) && typeof fields.choices === 'undefined')
  );
}

function errorInFrames(text: string): unknown {
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (!line.startsWith('data:')) continue;
    const value = parsed(line.slice(5).trim());
    if (value !== undefined && saysError(value)) return value;
  }
  return undefined;
}

function holdsAnswer({ choices, candidates, output, content }: Fields): boolean {
  return [choices, candidates, content].some((list) => Array.isArray(list) && list.length > 0) || present(output);
}

function isBlocked(feedback: unknown): boolean {
  return present(feedback) && present((feedback as Fields).blockReason);
}

/** MiniMax answers 200 and says 0 where all is well. */
function failedStatus(response: unknown): boolean {
  return present(response) && present((response as Fields).status_code);
}

function present(value: unknown): boolean {
  return Boolean(value);
}
