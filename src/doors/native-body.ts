/** Prepares the body of a request for a route that speaks the client's API: the client's bytes without what only Lodestone reads. */
import { asLatin1, decodeLatin1, encodeLatin1 } from '../base/latin1.js';
import type { NativeRequest } from '../wire/chat-request.js';
import { findMembers } from '../wire/json-members.js';
import { withMembers, withoutMembers } from '../wire/splice-members.js';
import type { ParsedBody } from './body.js';

/** Fields that only Lodestone reads. */
export const lodestoneFields: readonly string[] = ['fallback', 'provider', 'session_id'];

/** `added` holds members as JSON text. */
export function nativeBody(
  { text, encoding }: ParsedBody,
  added: Readonly<Record<string, string>> = {},
): Pick<NativeRequest, 'body' | 'modelStart' | 'modelEnd'> {
  let body = withoutMembers(encoding === 'latin1' ? text : encodeLatin1(text), lodestoneFields);
  if (Object.keys(added).length > 0) body = withMembers(body, added);
  const found = findMembers(body);
  if (found === null) return modelFirst(body);
  const at = found.keys.indexOf('model');
  return { body, modelStart: found.valueStarts[at]!, modelEnd: found.ends[at]! };
}

/** Keys may be repeated or have escapes, also where they are written anew. The place of the model is known where it comes first. */
function modelFirst(body: string): ReturnType<typeof nativeBody> {
  const { model, ...others } = JSON.parse(decodeLatin1(asLatin1(body))) as Record<string, unknown>;
  const start = '{"model":';
  const head = start + encodeLatin1(JSON.stringify(model));
  const rest = encodeLatin1(JSON.stringify(others)).slice(1);
  return { body: `${head}${rest === '}' ? '' : ','}${rest}`, modelStart: start.length, modelEnd: head.length };
}
