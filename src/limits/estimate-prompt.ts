/**
 * Estimates the tokens of a prompt from the length of its text: no parsing, no tokenizer, and at most a few milliseconds for
 * the largest body. The usage corrects the estimate after the answer.
 */
import type { ChatRequest } from '../wire/chat-request.js';

const bytesPerToken = 4;

/** Images, sound and files are sent in base64 and cost far fewer tokens than text of that length. */
const encodedBytesPerToken = 1024;

/** Smaller bodies are not searched for base64, because it makes little difference there. */
const lookedIntoFromBytes = 16 * 1024;
const blockBytes = 4096;
/** Text contains a blank, a quote or a non-ASCII character within this length. */
const sampleLength = 64;

const encodedCharacters = new Uint8Array(256);
// Some clients write `\/` for `/`, and some break lines with `\n`.
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\') {
  encodedCharacters[character.charCodeAt(0)] = 1;
}

export function estimatePromptTokens(request: Pick<ChatRequest, 'members' | 'encoding' | 'task' | 'native'>): number {
  const { encoding, task, native } = request;
  if (task?.kind === 'embedding' && task.tokens !== undefined) return task.tokens;
  // The client's own body, which is latin1, in place of its translation, which may never be needed.
  if (native !== undefined) return tokensIn(native.body.length - (native.modelEnd - native.modelStart), native.body);
  const { members } = request;
  // A string read as latin1 has one character for each byte.
  const isDecoded = typeof members === 'string' && encoding === 'utf8';
  const bytes = isDecoded ? Buffer.byteLength(members) : members.length;
  // Embeddings and rerank have texts only, in which base64 is text like any other.
  return tokensIn(bytes, task === undefined ? members : '');
}

/** `searched` is what may have base64 in it. */
function tokensIn(bytes: number, searched: string | Buffer): number {
  const encoded = bytes < lookedIntoFromBytes ? 0 : encodedBytes(searched);
  return Math.max(1, Math.ceil((bytes - encoded) / bytesPerToken + encoded / encodedBytesPerToken));
}

/** Looks at one short sample of each block and takes it for the whole block. */
function encodedBytes(members: string | Buffer): number {
  let encoded = 0;
  for (let at = 0; at + blockBytes <= members.length; at += blockBytes) {
    if (isEncoded(members, at)) encoded += blockBytes;
  }
  return encoded;
}

function isEncoded(members: string | Buffer, from: number): boolean {
  for (let at = from; at < from + sampleLength; at++) {
    const code = typeof members === 'string' ? members.charCodeAt(at) : members[at]!;
    if (encodedCharacters[code] !== 1) return false;
  }
  return true;
}
