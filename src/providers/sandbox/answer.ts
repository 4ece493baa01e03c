/** The answer of an echoing model: the last user message, cut where the request asks for it. Equal requests get equal answers. */
import type { SandboxRequest } from './request.js';

export type Answer =
  | { readonly kind: 'text'; readonly pieces: readonly string[]; readonly finishReason: 'stop' | 'length' }
  | { readonly kind: 'tool_call'; readonly name: string };

const greeting = 'Hello from the Lodestone sandbox.';
/** Long answers are sent in pieces of several words, so that an echo ends within seconds. */
const piecesMax = 400;

export function answerOf(request: SandboxRequest): Answer {
  if (request.forcedTool !== null) return { kind: 'tool_call', name: request.forcedTool };
  const echo = request.lastUserText.trim() === '' ? greeting : request.lastUserText;
  const full = request.responseFormat === 'json_object' ? JSON.stringify({ echo }) : echo;
  const words = wordsOf(untilStop(full, request.stops));
  const isCut = words.length > request.wordsMax;
  const kept = isCut ? words.slice(0, request.wordsMax) : words;
  return { kind: 'text', pieces: groupsOf(kept), finishReason: isCut ? 'length' : 'stop' };
}

function untilStop(text: string, stops: readonly string[]): string {
  let end = text.length;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at >= 0 && at < end) end = at;
  }
  return text.slice(0, end);
}

/** Words with the white space around them: joined, they are the text again. `max_tokens` counts words here. */
function wordsOf(text: string): string[] {
  const words = text.match(/\S+\s*/g) ?? [];
  const blanks = text.length - text.trimStart().length;
  if (words.length > 0 && blanks > 0) words[0] = text.slice(0, blanks) + words[0];
  return words;
}

function groupsOf(words: readonly string[]): string[] {
  const size = Math.ceil(words.length / piecesMax);
  if (size <= 1) return [...words];
  const pieces: string[] = [];
  for (let at = 0; at < words.length; at += size) pieces.push(words.slice(at, at + size).join(''));
  return pieces;
}
