/** Counts the tokens of a text with byte-pair encoding over the o200k vocabulary. Special tokens in the text count as plain text. */
import { noRank, rankOf } from './vocabulary.js';

const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const contraction = `(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?`;
/** The pattern of o200k: tokens never reach across the words that it splits a text into. */
const words = new RegExp(
  [
    String.raw`[^\r\n\p{L}\p{N}]?${upper}*${lower}+${contraction}`,
    String.raw`[^\r\n\p{L}\p{N}]?${upper}+${lower}*${contraction}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
    String.raw`\s*[\r\n]+`,
    String.raw`\s+(?!\S)`,
    String.raw`\s+`,
  ].join('|'),
  'gu',
);

const encoder = new TextEncoder();
let bytes = new Uint8Array(4096);
/** The parts of the word that is being merged: where each starts, and the rank of it joined with the next. */
let starts = new Int32Array(4096);
let ranks = new Int32Array(4096);

/** Counts of words that are no token, because the same ones come again and again. */
const counted = new Map<string, number>();
const countedMax = 20_000;

export function countTokens(text: string): number {
  let count = 0;
  words.lastIndex = 0;
  for (let match = words.exec(text); match; match = words.exec(text)) count += countWord(match[0]);
  return count;
}

/** A remembered word keeps the whole text alive that it was found in. */
export function forgetWords(): void {
  counted.clear();
}

function countWord(word: string): number {
  const length = encode(word);
  if (length === 1 || rankOf(bytes, 0, length) !== noRank) return 1;
  const known = counted.get(word);
  if (known !== undefined) return known;
  const count = merge(length);
  if (counted.size >= countedMax) counted.clear();
  counted.set(word, count);
  return count;
}

/** Writes the UTF-8 of the word to `bytes`. */
function encode(word: string): number {
  const { length } = word;
  if (bytes.length < length * 3) {
    bytes = new Uint8Array(length * 6);
    starts = new Int32Array(length * 6);
    ranks = new Int32Array(length * 6);
  }
  for (let index = 0; index < length; index++) {
    const code = word.charCodeAt(index);
    if (code > 0x7f) return encoder.encodeInto(word, bytes).written;
    bytes[index] = code;
  }
  return length;
}

/** Joins the two neighbours with the lowest rank, again and again. The number of parts that remain. */
function merge(length: number): number {
  let parts = length;
  for (let at = 0; at <= length; at++) starts[at] = at;
  for (let part = 0; part < parts; part++) ranks[part] = joinedRank(part, parts);
  while (parts > 1) {
    let lowest = noRank;
    let chosen = -1;
    for (let part = 0; part < parts - 1; part++) {
      if (ranks[part]! < lowest) {
        lowest = ranks[part]!;
        chosen = part;
      }
    }
    if (chosen < 0) break;
    starts.copyWithin(chosen + 1, chosen + 2, parts + 1);
    ranks.copyWithin(chosen, chosen + 1, parts);
    parts--;
    ranks[chosen] = joinedRank(chosen, parts);
    if (chosen > 0) ranks[chosen - 1] = joinedRank(chosen - 1, parts);
  }
  return parts;
}

function joinedRank(part: number, parts: number): number {
  return part + 2 > parts ? noRank : rankOf(bytes, starts[part]!, starts[part + 2]!);
}
