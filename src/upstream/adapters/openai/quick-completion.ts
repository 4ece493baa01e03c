/**
 * The usual completion, taken apart without parsing the whole of it: only its usage is parsed. Whatever is not exactly of the
 * usual shape (an error, no message, no usage, odd characters, broken structure) is left to the plain way.
 */
import { isUtf8 } from 'node:buffer';
import { findMembers, keptMembers, memberValue } from '../../../wire/json-members.js';
import { readUsage } from '../../../wire/usage.js';
import { type CompletionParts, isPassedOn } from './completion-parts.js';

/** Quotes inside a JSON string are escaped, so these can only be found in the structure. */
const finish = /"finish_reason": ?"([a-z_]+)"/;
const message = /^\[ ?\{(?:"index": ?\d+, ?)?"message": ?\{ ?"/;
const quotedText = /^"[^"\\]*"$/;
const beyondAscii = /[^ -~]/;
/** Inside a string they break the JSON; between its parts they are not usual. */
const control = /[^ -\u00ff]/;

/** `text` is latin1. */
export function quickCompletion(text: string): CompletionParts | null {
  const members = findMembers(text);
  if (!members || members.keys.includes('error')) return null;
  const choices = memberValue(text, members, 'choices');
  const usageText = memberValue(text, members, 'usage');
  const model = memberValue(text, members, 'model');
  const finishReason = choices === undefined ? undefined : finish.exec(choices)?.[1];
  if (!choices || !usageText?.startsWith('{') || !finishReason || finishReason === 'error' || !message.test(choices))
    return null;
  if (model !== undefined && !quotedText.test(model)) return null;
  if (beyondAscii.test(text) && (control.test(text.trim()) || !isUtf8(Buffer.from(text, 'latin1')))) return null;
  const usage = parsed(usageText);
  const reading = readUsage(usage);
  if (reading.kind !== 'usage') return null;
  return {
    members: keptMembers(text, members, isPassedOn),
    encoding: 'latin1',
    usage,
    reading,
    usageText,
    answeredModel: model?.slice(1, -1),
    finishReason,
    delivered: '',
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
