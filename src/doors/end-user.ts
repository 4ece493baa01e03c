/** Finds the end user that a request names, for accounts that keep it with the record of each request. */
import { gatewayError } from '../errors/gateway-error.js';
import { findMembers, memberValue } from '../wire/json-members.js';

const lengthMax = 128;

/** Where each API names the end user. The others name none. */
const members: Readonly<Record<string, string>> = { chat: 'user', responses: 'user', messages: 'metadata' };

/** What stands there, unchecked; null where that is no text. The body need not be valid. */
export function endUserIn(doorName: string, body: Buffer): string | null {
  const member = members[doorName];
  // Most requests name nobody, and then nothing is read.
  if (member === undefined || !body.includes(`"${member}"`)) return null;
  try {
    const value = memberOf(body, member);
    const user = member === 'metadata' ? (value as { user_id?: unknown } | null)?.user_id : value;
    return typeof user === 'string' && user !== '' ? user : null;
  } catch {
    return null;
  }
}

function memberOf(body: Buffer, member: string): unknown {
  // Each byte is a character, so the text of a member is cut out without reading the rest.
  const text = body.toString('latin1');
  const found = findMembers(text);
  if (!found) return (JSON.parse(body.toString('utf8')) as Record<string, unknown>)[member];
  const value = memberValue(text, found, member);
  return value === undefined ? null : JSON.parse(Buffer.from(value, 'latin1').toString('utf8'));
}

/** Throws parameter_out_of_range for one that is too long to be kept. */
export function checkEndUser(doorName: string, endUser: string): void {
  if (endUser.length <= lengthMax) return;
  const { length } = [...endUser];
  if (length <= lengthMax) return;
  const param = members[doorName] === 'metadata' ? 'metadata.user_id' : 'user';
  const range = `at most ${lengthMax} characters, because this account keeps the end user of each request`;
  throw gatewayError('parameter_out_of_range', { param, value: `a text of ${length} characters`, range });
}
