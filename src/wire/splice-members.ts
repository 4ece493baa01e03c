/** Changes a few members of an object in its JSON text and leaves every other byte as it is. All text is latin1. */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../base/latin1.js';
import { findMembers, keptMembers, type Members, memberValue } from './json-members.js';
import { isFields } from './message.js';

/** Replaces members in their place and appends those that are missing. `changes` holds JSON text, `found` the text's members. */
export function withMembers(
  text: string,
  changes: Readonly<Record<string, string>>,
  found: Members | null = findMembers(text),
): string {
  if (found === null) return rewritten(text, changes);
  const { keys, valueStarts, ends } = found;
  let out = '';
  let from = 0;
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at]!;
    if (!Object.hasOwn(changes, key)) continue;
    out += text.slice(from, valueStarts[at]!) + changes[key];
    from = ends[at]!;
  }
  let added = '';
  for (const key in changes) if (!keys.includes(key)) added += `,"${key}":${changes[key]}`;
  if (added === '') return out + text.slice(from);
  const end = text.lastIndexOf('}');
  return `${out}${text.slice(from, end)}${keys.length === 0 ? added.slice(1) : added}${text.slice(end)}`;
}

/** The text of a member's value; undefined where there is none. */
export function memberText(text: string, key: string, found: Members | null = findMembers(text)): string | undefined {
  if (found) return memberValue(text, found, key);
  const value = parse(text)[key];
  return value === undefined ? undefined : encodeLatin1(JSON.stringify(value));
}

/** The object without some members. */
export function withoutMembers(text: string, names: readonly string[]): string {
  const found = findMembers(text);
  if (found === null) {
    const kept = Object.entries(parse(text)).filter(([key]) => !names.includes(key));
    return encodeLatin1(JSON.stringify(Object.fromEntries(kept)));
  }
  if (!found.keys.some((key) => names.includes(key))) return text;
  return `{${keptMembers(text, found, (key) => !names.includes(key))}}`;
}

/** An object with a key twice, or with escapes in its keys, is written anew. */
function rewritten(text: string, changes: Readonly<Record<string, string>>): string {
  const parsed = Object.entries(changes).map(([key, value]) => [key, JSON.parse(decodeLatin1(asLatin1(value)))]);
  return encodeLatin1(JSON.stringify({ ...parse(text), ...Object.fromEntries(parsed) }));
}

/** Without members where it is no object: a text would have one for each character. */
function parse(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(decodeLatin1(asLatin1(text)));
  return isFields(value) ? value : {};
}
