/**
 * Counts tokens with the o200k vocabulary, behind a guard: byte-pair encoding is quadratic on text without a break, so long
 * runs are cut into pieces first. Only loaded in the counting thread.
 */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

const runMax = 400;
const longRun = new RegExp(`\\S{${runMax}}(?=\\S)|\\s{${runMax}}(?=\\s)`, 'gu');

/** Special tokens in the text are counted as the plain text that they are. */
const plain = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

export function countText(text: string): number {
  if (text === '') return 0;
  if (text.length <= runMax) return countTokens(text, plain);
  let count = 0;
  for (const piece of pieces(text)) count += countTokens(piece, plain);
  return count;
}

/** Cuts long runs, and nothing else: ordinary text stays whole, so its count is the tokenizer's own. */
function pieces(text: string): string[] {
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
