/**
 * The text that a stream has delivered, for the bill where the provider reports no usage. A short text is kept and counted at the
 * end, if it has to be. A long one is counted while it passes, so that the memory of a stream does not grow with its length.
 */
import type { TokenCounter } from '../../billing/count/counter.js';

/** Some 8,000 tokens: most answers end before that. Up to three times as much is held, with a piece that is being counted and a read. */
export const keptCharactersMax = 32 * 1024;

/** Pieces of frames keep the frames alive that they were cut from; above this size they are copied out. */
const keptFramesMax = 32 * 1024;

const pieceCharactersMax = 64 * 1024;
const letterU = 0x75;

/** What is left to count, and the tokens of all that came before it. */
export interface Remaining {
  tokens: number;
  /** The inside of a JSON string, in latin1. */
  text: string;
}

export class DeliveredText {
  /** All that was delivered, in bytes of the inside of a JSON string. */
  characters = 0;
  /** Not counted yet, and not yet on its way to be. */
  private text = '';
  /** What comes before `text`, as a copy of its own. */
  private copied = '';
  private frames = 0;
  private tokens = 0;
  private counting: Promise<void> | null = null;

  constructor(private readonly counter: Pick<TokenCounter, 'countPiece'>) {}

  /** `inside` is the inside of a JSON string in latin1, a part of a frame of `frameLength` characters. */
  add(inside: string, frameLength: number): void {
    this.characters += inside.length;
    this.text += inside;
    this.frames += frameLength;
  }

  /** For the end of every read. False where the text grows faster than it is counted: then nothing more may come until `whenCounted`. */
  countIfLong(): boolean {
    if (this.frames > keptFramesMax) this.copy();
    if (this.text.length + this.copied.length < keptCharactersMax) return true;
    if (this.counting !== null) return false;
    this.counting = this.count();
    return true;
  }

  whenCounted(resume: () => void): void {
    if (this.counting === null) resume();
    else void this.counting.then(resume);
  }

  async remaining(): Promise<Remaining> {
    await this.counting;
    return { tokens: this.tokens, text: this.uncounted };
  }

  /** The inside of a JSON string, in latin1. */
  get uncounted(): string {
    return this.copied + this.text;
  }

  private copy(): void {
    this.copied += Buffer.from(this.text, 'latin1').toString('latin1');
    this.text = '';
    this.frames = 0;
  }

  /** One frame may hold megabytes, and the counts of others must not wait for all of it. */
  private async count(): Promise<void> {
    this.copy();
    while (this.copied.length >= keptCharactersMax) {
      const cut = wholeCharactersBefore(this.copied, pieceCharactersMax);
      const piece = this.copied.slice(0, cut);
      this.copied = this.copied.slice(cut);
      const { tokens, rest } = await this.counter.countPiece(piece);
      this.tokens += tokens;
      this.copied = rest + this.copied;
    }
    this.counting = null;
  }
}

/** The first place at or after `wanted` that is not inside an escape. */
function wholeCharactersBefore(inside: string, wanted: number): number {
  let at = 0;
  for (let next = inside.indexOf('\\'); next !== -1 && next < wanted; next = inside.indexOf('\\', at)) {
    at = next + (inside.charCodeAt(next + 1) === letterU ? 6 : 2);
  }
  return Math.max(at, wanted);
}
