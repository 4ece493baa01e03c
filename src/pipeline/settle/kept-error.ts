/**
 * The text of a provider's error as it may be stored: some providers quote the prompt, and no prompt text is ever stored. It runs for
 * failures only, in a time that the length of the prompt bounds.
 */
import type { ChatRequest } from '../../wire/chat-request.js';
import { plainText } from '../../wire/json-text.js';

/** Every run of `gram * 2 - 1` characters holds one that begins at a multiple of `gram`. */
const gram = 8;
/** Shorter runs are words that anybody may use. */
const runMin = 12;
/** A message this short may be quoted whole without making such a run. */
const shortMax = 2 * gram;
/** Longer requests are not searched, because that would hold up other requests. */
const searchedMax = 64 * 1024;
const mark = '[…]';
const notKept = 'The provider’s words are not kept, because they could not be searched for text of the request.';

export function keptError(error: string, { members, encoding }: Pick<ChatRequest, 'members' | 'encoding'>): string {
  if (typeof members !== 'string' || members.length > searchedMax) return notKept;
  const { texts, whole } = promptOf(members, encoding);
  const covered = new Uint8Array(error.length);
  for (const text of texts) if (text.length < shortMax) coverAll(error, text, covered);
  coverRuns(error, whole, covered);
  return without(error, covered);
}

interface Prompt {
  texts: string[];
  /** All of them, apart from each other. */
  whole: string;
}

/** As quotes are written: with single spaces. */
function promptOf(members: string, encoding: ChatRequest['encoding']): Prompt {
  const { messages, input, query, documents } = JSON.parse(`{${members}}`) as Record<string, unknown>;
  const texts: string[] = [];
  collect(messages ?? [input, query, documents], texts);
  const flat = texts.map((text) => singleSpaced(plainText(text, encoding)));
  return { texts: flat, whole: flat.join('\n') };
}

/** Most texts are already, and to find that out costs a fraction of making them so. */
function singleSpaced(text: string): string {
  return (otherSpaces.test(text) ? text.replace(/\s+/g, ' ') : text).trim();
}

const otherSpaces = /\s\s|[^\S ]/;

const namesNotText = new Set(['role', 'type', 'detail', 'format']);

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (value !== null && typeof value === 'object') {
    for (const [name, item] of Object.entries(value)) if (!namesNotText.has(name)) collect(item, texts);
  }
}

/** One or two characters reveal nothing of a prompt. */
function coverAll(error: string, text: string, covered: Uint8Array): void {
  if (text.length < 3) return;
  for (let at = error.indexOf(text); at !== -1; at = error.indexOf(text, at + 1)) covered.fill(1, at, at + text.length);
}

function coverRuns(error: string, prompt: string, covered: Uint8Array): void {
  const isCovered = (place: number) => covered[place] === 1 && covered[place + gram - 1] === 1;
  const places = new Map<string, number[]>();
  for (let at = 0; at + gram <= error.length; at++) {
    const part = error.slice(at, at + gram);
    const known = places.get(part);
    if (known) known.push(at);
    else places.set(part, [at]);
  }
  for (let at = 0; at + gram <= prompt.length; at += gram) {
    const part = prompt.slice(at, at + gram);
    const open = places.get(part);
    if (!open) continue;
    for (const place of open) if (!isCovered(place)) coverRun(error, place, prompt, at, covered);
    // What is covered is not looked at again, or a prompt of one repeated word would take minutes.
    const left = open.filter((place) => !isCovered(place));
    if (left.length === 0) places.delete(part);
    else places.set(part, left);
  }
}

function coverRun(error: string, place: number, prompt: string, at: number, covered: Uint8Array): void {
  let before = 0;
  while (before < Math.min(place, at) && error[place - before - 1] === prompt[at - before - 1]) before++;
  let length = gram;
  while (place + length < error.length && error[place + length] === prompt[at + length]) length++;
  if (before + length >= runMin) covered.fill(1, place - before, place + length);
}

function without(error: string, covered: Uint8Array): string {
  let kept = '';
  for (let at = 0; at < error.length; at++) {
    if (!covered[at]) kept += error[at];
    else if (!covered[at - 1]) kept += mark;
  }
  return kept;
}
