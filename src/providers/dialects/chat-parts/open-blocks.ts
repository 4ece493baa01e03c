/** The content blocks of a stream that are open, by their index: nothing says that one is over before the next one begins. */

export class OpenBlocks<Block> {
  /** The one that was spoken of last: most events are about it. */
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

  /** undefined where none was open. */
  close(index: unknown): Block | undefined {
    const block = this.blocks.get(index);
    this.blocks.delete(index);
    if (this.latest === block) this.latest = null;
    return block;
  }
}
