/**
 * The text that a stream has delivered, for the bill where the provider reports no usage. A short text is kept and counted at the
 * end, if it has to be. A long one is counted while it passes, so that the memory of a stream does not grow with its length.
 */
import type { Latin1Text } from '../../base/latin1.js';
import type { Remaining } from '../../billing/bill.js';
import type { TokenCounter } from '../../billing/count/counter.js';
import { LeastTokens } from '../../billing/count/least-tokens.js';
import { HeldText } from './held-text.js';

/** Some 8,000 tokens: most answers end before that. Up to three times as much is held, with a piece that is being counted and a read. */
export const keptCharactersMax = 32 * 1024;

/** Pieces of frames keep the frames alive that they were cut from; above this size they are copied out. */
const keptFramesMax = 32 * 1024;

const pieceCharactersMax = 64 * 1024;
const backslash = 0x5c;
const letterU = 0x75;

export class DeliveredText {
  /** All that was delivered, in bytes of the inside of a JSON string. */
  characters = 0;
  /** What comes after `held`: parts of frames, since the last copy. */
  private text = '';
  private frames = 0;
  /** Text that is neither counted nor being counted. null while the text is short. */
  private held: HeldText | null = null;
  private tokens = 0;
  private isEstimate = false;
  private readonly least = new LeastTokens();
  /** How much of `text` is in `least` already. */
  private leastRead = 0;
  private counting: Promise<void> | null = null;

  constructor(private readonly counter: Pick<TokenCounter, 'countPiece'>) {}

  /** `inside` is the inside of a JSON string in latin1, a part of a frame of `frameLength` characters. */
  add(inside: Latin1Text, frameLength: number): void {
    this.characters += inside.length;
    this.text += inside;
    this.frames += frameLength;
  }

  /** For the end of every read. False where the text grows faster than it is counted: then nothing more may come until `whenCounted`. */
  countIfLong(): boolean {
    if (this.held !== null || this.frames > keptFramesMax || this.text.length >= keptCharactersMax) {
      const held = this.hold();
      if (held.length >= keptCharactersMax) {
        if (this.counting !== null) return false;
        this.counting = this.count(held);
      }
    }
    return true;
  }

  whenCounted(resume: () => void): void {
    if (this.counting === null) resume();
    else void this.counting.then(resume);
  }

  async remaining(): Promise<Remaining> {
    await this.counting;
    return { tokens: this.tokens, text: this.uncounted, isEstimate: this.isEstimate };
  }

  /** The inside of a JSON string, in latin1. */
  get uncounted(): string {
    return this.held === null ? this.text : this.held.toString() + this.text;
  }

  /** The fewest tokens that all of it can be. Reads what came since it was asked last. */
  get leastTokens(): number {
    this.readForLeast();
    return this.least.tokens;
  }

  private readForLeast(): void {
    if (this.leastRead < this.text.length) this.least.addInside(this.text.slice(this.leastRead));
    this.leastRead = this.text.length;
  }

  private hold(): HeldText {
    this.readForLeast();
    this.leastRead = 0;
    this.held ??= new HeldText();
    this.held.append(this.text);
    this.text = '';
    this.frames = 0;
    return this.held;
  }

  /** One frame may hold megabytes, and the counts of others must not wait for all of it. */
  private async count(held: HeldText): Promise<void> {
    // What comes meanwhile is for the next time.
    for (let left = held.length; left >= keptCharactersMax; ) {
      const piece = held.lend(wholeCharactersBefore(held, pieceCharactersMax));
      const { tokens, rest, isEstimate } = await this.counter.countPiece(piece);
      this.tokens += tokens;
      if (isEstimate) this.isEstimate = true;
      held.giveBack(rest);
      left += rest.length - piece.length;
    }
    this.counting = null;
  }
}

/** The first place at or after `wanted` that is not inside an escape. */
function wholeCharactersBefore(inside: HeldText, wanted: number): number {
  if (inside.length <= wanted) return inside.length;
  let at = 0;
  for (let next = inside.indexOf(backslash, 0); next !== -1 && next < wanted; next = inside.indexOf(backslash, at)) {
    at = next + (inside.at(next + 1) === letterU ? 6 : 2);
  }
  return Math.max(at, wanted);
}
