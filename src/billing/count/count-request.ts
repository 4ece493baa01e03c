/**
 * Counts the tokens of a request's prompt. A large one is bytes: its long texts are set aside and counted in pieces, because a parser would
 * take several times their memory.
 */
import { largeTextBytes, spaceFor } from '../../base/large-memory.js';
import { parseExcessOf, requestExcessOf, type TextEncoding } from '../../wire/json-text.js';
import { type LongTexts, partsOf, takeOutLongTexts } from '../../wire/long-texts.js';
import { type CountedRequest, countPrompt } from './count-messages.js';
import { countPiece } from './count-pieces.js';
import { countText } from './count-text.js';
import { leastOfPrompts, textOf } from './least-tokens.js';

interface PromptCount {
  promptTokens: number;
  isEstimate?: true;
}

/** The members of a request that are counted. */
const countedNames = new Set(['messages', 'tools', 'input', 'query', 'documents']);

export function isLargeRequest(members: string | Uint8Array): boolean {
  return members.length >= largeTextBytes;
}

export function countMembers(members: string, encoding: TextEncoding): PromptCount {
  const text = encoding === 'latin1' ? Buffer.from(members, 'latin1').toString('utf8') : members;
  return { promptTokens: countPrompt(JSON.parse(`{${text}}`) as CountedRequest, countText) };
}

/** A request with too many values to read into objects is not counted: the least that every prompt has is billed. */
export function countRequestBytes(members: Uint8Array): PromptCount {
  const body = spaceFor(members.length + 2);
  body[0] = 0x7b;
  body.set(members, 1);
  body[members.length + 1] = 0x7d;
  if (requestExcessOf(body) !== null) return { promptTokens: leastOfPrompts, isEstimate: true };
  const texts = takeOutLongTexts(
    body,
    (name) => countedNames.has(name),
    () => true,
  );
  const rest = texts?.rest() ?? body;
  if (parseExcessOf(rest) !== null) return { promptTokens: leastOfPrompts, isEstimate: true };
  const prompt = JSON.parse(rest.toString('utf8')) as CountedRequest;
  return { promptTokens: countPrompt(prompt, texts ? (text) => countWithLongTexts(text, texts) : countText) };
}

function countWithLongTexts(text: string, texts: LongTexts): number {
  let tokens = 0;
  let rest = '';
  texts.eachPiece(JSON.stringify(text).slice(1, -1), 'utf8', (piece) => {
    for (const part of partsOf(piece)) {
      const counted = countPiece(rest + part.toString('latin1'));
      tokens += counted.tokens;
      rest = counted.rest;
    }
  });
  return tokens + countText(textOf(rest));
}
