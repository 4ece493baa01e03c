/**
 * The fewest tokens that a tokenizer can make of a text, without one: what is billed where nothing can be counted exactly. It holds for any
 * language and any text, so it is far below the count for some of them (docs/decisions/0060).
 */
import type { ChatRequest } from '../../wire/chat-request.js';
import { countPrompt } from './count-messages.js';

/** No token is of more letters and digits than this, nor of more than a quarter as many Chinese characters. */
export const weightMax = 128;
const chinese = 4;

/** A larger text, or prompt, would hold up other requests while it is read. */
const readMax = 64 * 1024;

/** By the upper byte of a UTF-16 unit. Blocks that have no letters, or blanks and signs among them, weigh nothing. */
const blockWeights = new Uint8Array(256);
/** Latin with marks, up to the scripts of Asia that have letters. */
blockWeights.fill(1, 0x01, 0x20);
blockWeights.fill(chinese, 0x34, 0xa0);
/** Yi to Hangul. */
blockWeights.fill(1, 0xa0, 0xd8);

/** Of the first block, by the unit: digits and letters, and the blanks that no token has between two letters. */
const firstBlock = new Uint8Array(256);
firstBlock.fill(1, 0x30, 0x3a);
firstBlock.fill(1, 0x41, 0x5b);
firstBlock.fill(1, 0x61, 0x7b);
firstBlock.fill(1, 0xc0, 0x100);
/** In place of a weight: space, tab and the ends of lines. */
export const blank = 255;
firstBlock.fill(blank, 0x09, 0x0e);
firstBlock[0x20] = blank;

/** What a UTF-16 unit counts towards the longest token, or `blank`. */
export function weightOf(unit: number): number {
  return unit < 256 ? firstBlock[unit]! : blockWeights[unit >> 8]!;
}

/** A text that comes in parts. A word that has a letter or digit is at least one token, a very long one several. */
export class LeastTokens {
  private whole = 0;
  /** Of the word that is not over yet. */
  private weight = 0;

  get tokens(): number {
    return this.whole + Math.ceil(this.weight / weightMax);
  }

  add(text: string): void {
    let { whole, weight } = this;
    for (let at = 0; at < text.length; at++) {
      const more = weightOf(text.charCodeAt(at));
      if (more !== blank) weight += more;
      else if (weight > 0) {
        whole += weight <= weightMax ? 1 : Math.ceil(weight / weightMax);
        weight = 0;
      }
    }
    this.whole = whole;
    this.weight = weight;
  }

  /** The inside of a JSON string in latin1. One that is too long is left out, which can only make the figure lower. */
  addInside(inside: string): void {
    if (inside.length <= readMax) this.add(textOf(inside));
  }
}

export function leastTokensIn(text: string): number {
  const least = new LeastTokens();
  least.add(text);
  return least.tokens;
}

/** The same of the inside of a JSON string in latin1. */
export function leastTokensOf(inside: string): number {
  const least = new LeastTokens();
  least.addInside(inside);
  return least.tokens;
}

/** Opens the reply; a prompt of which nothing is known has at least these. */
export const leastOfPrompts = countPrompt({}, leastTokensIn);

/** The same of a prompt, by the method of the exact count. */
export function leastPromptTokens(request: Pick<ChatRequest, 'members' | 'encoding' | 'native'>): number {
  // The translation of a request of another API is made when it is asked for.
  if ((request.native?.body ?? request.members).length > readMax) return leastOfPrompts;
  const { members, encoding } = request;
  const text = typeof members === 'string' && encoding === 'utf8' ? members : utf8Of(members);
  return countPrompt(JSON.parse(`{${text}}`), leastTokensIn);
}

/** Decodes the inside of a JSON string in latin1. */
export function textOf(inside: string): string {
  return JSON.parse(`"${utf8Of(inside)}"`) as string;
}

function utf8Of(latin1: string | Uint8Array): string {
  return (typeof latin1 === 'string' ? Buffer.from(latin1, 'latin1') : Buffer.from(latin1)).toString('utf8');
}
