/** The open content blocks of a stream, by index: a block may begin before the previous one has ended. */
import { copyLatin1, type Latin1Text } from '../../../base/latin1.js';

export class OpenBlocks<Block> {
  /** The block of the last event: most events are about it. */
  latest: Block | null = null;
  private readonly blocks = new Map<unknown, Block>();

  open(index: unknown, block: Block): Block {
    this.blocks.set(index, block);
    this.latest = block;
    return block;
  }

  at(index: unknown): Block | undefined {
    const block = this.blocks.get(index);
    if (block !== undefined) this.latest = block;
    return block;
  }

  /** Undefined where none was open. */
  close(index: unknown): Block | undefined {
    const block = this.blocks.get(index);
    this.blocks.delete(index);
    if (this.latest === block) this.latest = null;
    return block;
  }
}

/**
 * Streamed reasoning is kept, because it is sent again as a whole, with its signature. Longer reasoning is delivered too, but
 * clients cannot send it back to the provider.
 */
const keptCharactersMax = 128 * 1024;

/** Adds a piece of a signature to a block. One that is too long is left out with its reasoning, of which it signs the whole. */
export function keepSignature(block: { text: string | null; signature: string }, piece: Latin1Text): void {
  const kept = keepReasoning(block.signature, piece);
  if (kept === null) block.text = null;
  block.signature = kept ?? '';
}

/** Adds a piece to kept reasoning; both are the inside of a JSON string. Null = too long to keep. */
export function keepReasoning(kept: string | null, piece: Latin1Text): string | null {
  if (kept === null || kept.length + piece.length > keptCharactersMax) return null;
  // A copy: a slice would keep the whole frame in memory.
  return kept + copyLatin1(piece);
}
