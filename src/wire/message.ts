/**
 * Brings a message of an OpenAI-compatible server, whole or a delta, into the shape that OpenAI's clients accept. Functions that
 * change a message return true where they changed something.
 */
import { timeOrderedId } from '../base/ids.js';

export type Fields = Record<string, unknown>;

/** The names under which providers send reasoning. Clients find it under the first two, whichever the provider used. */
const reasoningNames = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'] as const;

const namesReversed = ['reasoning', 'reasoning_content'] as const;

export function isFields(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Whether the member `error` is an error: some servers write an empty one into every answer. */
export function isErrorMember(error: unknown): boolean {
  return error !== null && typeof error === 'object' ? Object.keys(error).length > 0 : Boolean(error);
}

/** The error of an answer or a frame: beside its choices, in one of them (OpenRouter), or in Groq's own member. */
export function errorOf({ error, choices, x_groq: groq }: Fields): unknown {
  if (isErrorMember(error)) return error;
  if (isFields(groq) && isErrorMember(groq.error)) return groq.error;
  if (!Array.isArray(choices)) return undefined;
  for (const choice of choices) if (isFields(choice) && isErrorMember(choice.error)) return choice.error;
  return undefined;
}

/** Turns content into text: OpenAI's clients would print `[object Object]` for a list of parts. */
export function tidyContent(message: Fields): boolean {
  const { content } = message;
  if (content === undefined || content === null || typeof content === 'string') return false;
  const parts = partsOf(content);
  message.content = parts.text;
  if (parts.refusal !== '' && !isText(message.refusal)) message.refusal = parts.refusal;
  if (parts.reasoning !== '' && reasoningOf(message) === '') message.reasoning_content = parts.reasoning;
  return true;
}

/** No model writes more. Twice as much of it would only take memory. */
const reasoningMax = 4 * 1024 * 1024;

/**
 * Writes reasoning under both of its common names, the provider's own first. With `readDetails` it is also read from
 * `reasoning_details`.
 */
export function tidyReasoning(message: Fields, readDetails: boolean): boolean {
  let reasoning = reasoningOf(message);
  if (reasoning === '' && readDetails) reasoning = detailsText(message.reasoning_details);
  if (
    reasoning === '' ||
    reasoning.length > reasoningMax ||
    (message.reasoning_content === reasoning && message.reasoning === reasoning)
  )
    return false;
  const [own, alias] = isText(message.reasoning_content) ? reasoningNames : namesReversed;
  delete message[alias];
  message[own] = reasoning;
  message[alias] = reasoning;
  return true;
}

/** The reasoning of a message, under any of its names. */
export function reasoningOf(message: Fields): string {
  for (const name of reasoningNames) {
    const value = message[name];
    if (isText(value)) return value;
  }
  for (const name of reasoningNames) {
    const value = message[name];
    if (value !== null && typeof value === 'object') return textIn(value);
  }
  return '';
}

/** All that the model wrote in a message or a delta. It is counted where the provider gives no usage. */
export function generatedText(message: Fields): string {
  const { content, refusal, tool_calls: calls, function_call: called } = message;
  // Reasoning has two names for the same text.
  let text = textOf(content) + reasoningOf(message) + textOf(refusal) + calledText(called);
  for (const call of Array.isArray(calls) ? calls : []) {
    if (isFields(call)) text += calledText(call.function) + calledText(call.custom);
  }
  return text;
}

/** Ids and signatures are not the model's words, and the gateway makes missing ids itself. */
function calledText(called: unknown): string {
  return isFields(called) ? textOf(called.name) + textOf(called.arguments) + textOf(called.input) : '';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Removes empty `function_call` and `audio`, which some servers write into every message and clients would take seriously. */
export function dropPlaceholders(message: Fields): boolean {
  const { function_call: called, audio } = message;
  let changed = false;
  if (isFields(called) && !isText(called.name) && !isText(called.arguments)) {
    delete message.function_call;
    changed = true;
  }
  if (isFields(audio) && !isText(audio.id) && !isText(audio.data) && !isText(audio.transcript) && !audio.expires_at) {
    delete message.audio;
    changed = true;
  }
  return changed;
}

/**
 * Completes the tool calls of a whole message: each has an id, a type, a name and arguments as JSON text. Only the last call of a message
 * that was cut off keeps arguments that are missing: with `{}` it would look like a finished call without arguments.
 */
export function tidyToolCalls(message: Fields, isCut: boolean): boolean {
  const { tool_calls: list } = message;
  if (isFields(list)) message.tool_calls = [list];
  else if (!Array.isArray(list)) return false;
  const calls = (message.tool_calls as unknown[]).filter(isFields);
  let changed = calls.length !== (Array.isArray(list) ? list.length : -1);
  if (changed) message.tool_calls = calls;
  for (const call of calls) {
    if (nestFunction(call)) changed = true;
    if (!isText(call.id)) {
      call.id = typeof call.id === 'number' ? String(call.id) : newCallId();
      changed = true;
    }
    if (!isText(call.type)) {
      call.type = 'function';
      changed = true;
    }
    const { function: called } = call;
    if (!isFields(called)) continue;
    const given = argumentsText(called.arguments);
    const text = given.trim() === '' && !(isCut && call === calls.at(-1)) ? '{}' : given;
    if (called.arguments !== text) {
      called.arguments = text;
      changed = true;
    }
  }
  return changed;
}

export function newCallId(): string {
  return `call_${timeOrderedId(Date.now())}`;
}

/** Arguments as JSON text; some servers send the value itself. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

/** Some servers omit the `function` object of a call. */
export function nestFunction(call: Fields): boolean {
  if (isFields(call.function) || (call.name === undefined && call.arguments === undefined)) return false;
  const { name, arguments: given } = call;
  delete call.name;
  delete call.arguments;
  call.function = { name, arguments: given };
  return true;
}

/** The text of content parts, by kind. Other parts (references, images) cannot be part of OpenAI's content. */
function partsOf(content: unknown): { text: string; reasoning: string; refusal: string } {
  const texts = { text: '', reasoning: '', refusal: '' };
  if (typeof content !== 'object') {
    texts.text = String(content);
    return texts;
  }
  if (!Array.isArray(content) && !('type' in content!) && !('text' in content!)) {
    // A JSON answer, sent as a value instead of text.
    texts.text = JSON.stringify(content);
    return texts;
  }
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === 'string') texts.text += part;
    else if (!isFields(part)) continue;
    else if (/thinking|reasoning/.test(String(part.type))) texts.reasoning += textIn(part);
    else if (part.type === 'refusal') texts.refusal += textIn(part.refusal);
    else if (part.type === undefined || /text/.test(String(part.type))) texts.text += textIn(part.text ?? part.content);
  }
  return texts;
}

/** The text of reasoning: a string, a list, or an object with either under one of the usual names. */
function textIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (value === null || typeof value !== 'object' || depth > 4) return '';
  if (Array.isArray(value)) return value.map((entry) => textIn(entry, depth + 1)).join('');
  const { text, thinking, reasoning, summary, content } = value as Fields;
  return textIn(text ?? thinking ?? reasoning ?? summary ?? content, depth + 1);
}

/** The readable entries of `reasoning_details`. */
function detailsText(details: unknown): string {
  return Array.isArray(details) ? details.map((entry) => (isFields(entry) ? textIn(entry) : '')).join('') : '';
}
