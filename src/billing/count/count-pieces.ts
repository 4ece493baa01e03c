/**
 * Counts a text that arrives in pieces, so that nobody has to keep all of it. The counts add up to the count of the whole
 * text: a piece is cut only where the tokenizer never joins two characters, or where `count-text` breaks a long run anyway.
 */
import { countTokens, forgetWords } from './byte-pairs.js';
import { piecesOf } from './count-text.js';
import { textOf } from './least-tokens.js';

export interface CountedPiece {
  tokens: number;
  /**
   * The end of the piece, which is not counted yet because the next piece continues it. The inside of a JSON string, in
   * latin1.
   */
  rest: string;
  /** The piece could not be counted: `tokens` is a lower bound. */
  isEstimate?: true;
}

/**
 * The tokenizer splits text into words before it merges bytes, and never merges across words. A word always ends before a blank
 * that follows something else, before a line break that follows a letter or digit, and after the last line break before anything
 * but a slash.
 */
const wordEnds = /\S(?=[^\S\r\n])|[\p{L}\p{N}](?=[\r\n])|[\r\n](?=[^\s/])/gu;

/** Long runs are broken up, so a possible cut is always near the end. */
const searchedCharacters = 4096;

/** The tokenizer caches words, and each word keeps the piece alive that it was found in. */
const rememberedCharactersMax = 1024 * 1024;
let rememberedCharacters = 0;

/** `text` is the rest of earlier pieces and the new piece: the inside of a JSON string, in latin1. */
export function countPiece(text: string): CountedPiece {
  const partial = partialCharacterOf(text);
  const decoded = textOf(partial === 0 ? text : text.slice(0, -partial));
  const pieces = piecesOf(decoded);
  const last = pieces.pop()!;
  const cut = lastWordEnd(last);
  let tokens = cut === 0 ? 0 : countTokens(last.slice(0, cut));
  for (const piece of pieces) tokens += countTokens(piece);
  forgetSometimes(decoded.length);
  const rest = JSON.stringify(last.slice(cut)).slice(1, -1);
  return { tokens, rest: Buffer.from(rest, 'utf8').toString('latin1') + text.slice(text.length - partial) };
}

function lastWordEnd(text: string): number {
  const end = lastWordEndFrom(text, Math.max(0, text.length - searchedCharacters));
  return end === 0 ? lastWordEndFrom(text, 0) : end;
}

function lastWordEndFrom(text: string, from: number): number {
  let end = 0;
  wordEnds.lastIndex = from;
  for (let match = wordEnds.exec(text); match; match = wordEnds.exec(text)) end = match.index + match[0].length;
  return end;
}

/** The number of bytes at the end that begin a UTF-8 character which the next piece completes. */
function partialCharacterOf(text: string): number {
  for (let length = 1; length <= 3 && length <= text.length; length++) {
    const byte = text.charCodeAt(text.length - length);
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return length < characterBytes(byte) ? length : 0;
  }
  return 0;
}

function characterBytes(firstByte: number): number {
  if (firstByte >= 0xf0) return 4;
  return firstByte >= 0xe0 ? 3 : 2;
}

function forgetSometimes(characters: number): void {
  rememberedCharacters += characters;
  if (rememberedCharacters < rememberedCharactersMax) return;
  rememberedCharacters = 0;
  forgetWords();
}
