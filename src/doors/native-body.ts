/** Prepares the body of a request for a route that speaks the client's API: the client's bytes without what only Lodestone reads. */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../base/latin1.js';
import type { NativeRequest } from '../wire/chat-request.js';
import { findMembers, type Members, membersWithRepeats, memberValue } from '../wire/json-members.js';
import type { TextEncoding } from '../wire/json-text.js';
import { withMembers, withoutMembers } from '../wire/splice-members.js';
import type { ParsedBody } from './body.js';
import { routing } from './field-table.js';

/** Fields that only Lodestone reads. */
export const lodestoneFields: readonly string[] = Object.keys(routing);

type PlacedBody = Pick<NativeRequest, 'modelStart' | 'modelEnd'> & { readonly body: string };

/** `found` are the members of the body's text. `added` holds members as JSON text. */
export function nativeBody(
  { text, encoding, fields }: ParsedBody,
  found: Members | null,
  asked: Readonly<Record<string, string>> = nothing,
): PlacedBody {
  const anew = found === null ? [] : membersWithRepeats(found, fields).filter((key) => !isOurs(key));
  // What was checked is what is sent: a provider may take another one of two members with the same name.
  const texts = anew.map((key) => [key, latin1Of(JSON.stringify(fields[key]), encoding)]);
  const added = texts.length === 0 ? asked : { ...Object.fromEntries(texts), ...asked };
  // The usual body keeps its members in their places, which were found in a text that has one character for each byte.
  if (encoding === 'latin1' && found !== null && !found.keys.some(isOurs)) {
    const missing = Object.keys(added).filter((key) => memberValue(text, found, key) !== added[key]);
    if (missing.length === 0) return withModel(text, found);
    if (!missing.some((key) => found.keys.includes(key))) return withModel(withMembers(text, added, found), found);
  }
  const own = withoutMembers(latin1Of(text, encoding), lodestoneFields);
  const body = added === nothing ? own : withMembers(own, added);
  const members = findMembers(body);
  return found === null || members === null ? modelFirst(body) : withModel(body, members);
}

const nothing = {};

function latin1Of(text: string, encoding: TextEncoding): string {
  return encoding === 'latin1' ? text : encodeLatin1(text);
}

function isOurs(name: string): boolean {
  return lodestoneFields.includes(name);
}

function withModel(body: string, { keys, valueStarts, ends }: Members): PlacedBody {
  const at = keys.indexOf('model');
  return { body, modelStart: valueStarts[at]!, modelEnd: ends[at]! };
}

/** Keys may be repeated or have escapes, also where they are written anew. The place of the model is known where it comes first. */
function modelFirst(body: string): PlacedBody {
  const { model, ...others } = JSON.parse(decodeLatin1(asLatin1(body))) as Record<string, unknown>;
  const start = '{"model":';
  const head = start + encodeLatin1(JSON.stringify(model));
  const rest = encodeLatin1(JSON.stringify(others)).slice(1);
  return { body: `${head}${rest === '}' ? '' : ','}${rest}`, modelStart: start.length, modelEnd: head.length };
}
