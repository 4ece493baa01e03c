/** Checks the messages of a chat completions request like `checkMessages`, in their text. */
import type { JsonScanner } from '../../wire/json-scanner.js';
import { nestingMax } from '../../wire/json-text.js';
import { messageRoles } from './messages.js';

const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const quote = 0x22;
const letterN = 0x6e;

/** Moves the scanner behind the messages; false where they are unusual or not valid. */
export function scanMessages(json: JsonScanner): boolean {
  if (!json.take(openBracket)) return false;
  for (;;) {
    if (!scanMessage(json)) return false;
    const next = json.takeNext(closeBracket);
    if (next !== 'more') return next === 'end';
  }
}

/** The members of a message that are usual, each as a bit. A message with another one, or with one of them twice, is parsed. */
const messageMembers = [
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'reasoning_content',
] as const;
const roleBit = 1 << messageMembers.indexOf('role');
const callIdBit = 1 << messageMembers.indexOf('tool_call_id');
/** A message is on the second level below the body. */
const levelsInMessage = nestingMax - 3;

function scanMessage(json: JsonScanner): boolean {
  if (!json.take(openBrace)) return false;
  let found = 0;
  let isTool = false;
  for (;;) {
    const key = json.takeKey();
    if (key === -1) return false;
    const name = json.nameAt(messageMembers, key, json.keyEnd);
    if (name === null) return false;
    const bit = 1 << messageMembers.indexOf(name);
    if ((found & bit) !== 0) return false;
    found |= bit;
    if (name === 'role') {
      const role = scanRole(json);
      if (role === null) return false;
      isTool = role === 'tool';
    } else if (!scanMessageMember(json, name)) return false;
    const next = json.takeNext(closeBrace);
    if (next === 'more') continue;
    if (next === null) return false;
    return (found & roleBit) !== 0 && (!isTool || (found & callIdBit) !== 0);
  }
}

function scanRole(json: JsonScanner): string | null {
  const start = json.takePlainString();
  return start === -1 ? null : json.nameAt(messageRoles, start, json.at - 1);
}

function scanMessageMember(json: JsonScanner, name: (typeof messageMembers)[number]): boolean {
  const code = json.peek();
  if (name === 'content') {
    if (code === quote) return json.skipString();
    if (code !== openBracket && code !== letterN) return false;
    const start = json.at;
    // Audio has a price of its own, for which the parser looks.
    return json.skipValue(levelsInMessage) && !json.text.slice(start, json.at).includes('input_audio');
  }
  // Where it is needed, an empty one is an error.
  if (name === 'tool_call_id') return json.takePlainString() !== -1 && json.text.charCodeAt(json.at - 2) !== quote;
  return json.skipValue(levelsInMessage);
}
