/**
 * Counts tokens with the o200k vocabulary. Byte-pair encoding takes quadratic time on text without a break, so long runs are
 * cut into pieces first. Loaded only in the counting thread.
 */
import { countTokens } from './byte-pairs.js';

const runMax = 400;
/** The tokenizer reads any number of slashes and line breaks after a sign as one word, so a run of both is broken up too. */
const longRun = new RegExp(`\\S{${runMax}}(?=\\S)|\\s{${runMax}}(?=\\s)|[\\r\\n/]{${runMax}}(?=[\\r\\n/])`, 'gu');

export function countText(text: string): number {
  if (text === '') return 0;
  if (text.length <= runMax) return countTokens(text);
  let count = 0;
  for (const piece of piecesOf(text)) count += countTokens(piece);
  return count;
}

/** Cuts only long runs: ordinary text stays whole, so its count is the tokenizer's own. */
export function piecesOf(text: string): string[] {
  const cuts: string[] = [];
  let from = 0;
  longRun.lastIndex = 0;
  for (let match = longRun.exec(text); match; match = longRun.exec(text)) {
    const to = match.index + match[0].length;
    cuts.push(text.slice(from, to));
    from = to;
  }
  cuts.push(text.slice(from));
  return cuts;
}
