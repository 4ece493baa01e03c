/** Counts the tokens of answers without usage in a separate thread, so that a cut 5 MB stream delays nobody. */
import { SideThread } from '../../base/side-thread.js';
import type { CountedPiece } from './count-pieces.js';
import { leastOfPrompts, leastTokensOf } from './least-tokens.js';

export interface CountRequest {
  /** The request's members (see ChatRequest). */
  members: string | Uint8Array;
  encoding: 'latin1' | 'utf8';
  /** The delivered text as the inside of a JSON string, in latin1. */
  delivered: string;
}

export interface PieceRequest {
  /** The rest of earlier pieces, and the next piece. */
  piece: string;
}

export interface CountResult {
  promptTokens: number;
  completionTokens: number;
  /** Nothing could be counted: the figures are lower bounds. */
  isEstimate?: true;
}

/** Texts above this size take so long that others must not wait behind them. */
const largeLength = 512 * 1024;

interface WaitingPiece {
  text: Buffer;
  resolve(counted: CountedPiece): void;
}

export class TokenCounter {
  /** Stays loaded: the first count after a quiet hour must not wait for the tokenizer. */
  private readonly thread = countThread({ heapMb: piecesHeapMb });
  private readonly largeThread = countThread({ idleMs: 120_000 });
  private readonly waitingPieces: WaitingPiece[] = [];
  private countsPiece = false;

  /** Starts the thread and loads the tokenizer. */
  load(): void {
    this.thread.run({ members: '', encoding: 'latin1', delivered: '' }).catch(() => {});
  }

  async count(request: CountRequest): Promise<CountResult> {
    const large = request.members.length + request.delivered.length > largeLength;
    try {
      return (await (large ? this.largeThread : this.thread).run(request)) as CountResult;
    } catch {
      // Delivered text is never free, whatever happens to the counter, and nobody pays for more than there was.
      return { promptTokens: leastOfPrompts, completionTokens: leastTokensOf(request.delivered), isEstimate: true };
    }
  }

  /**
   * Counts a piece of a long text. The thread gets one piece at a time, so that the count of a short answer waits for one
   * piece and not for those of all streams. `text` is the inside of a JSON string and must not change before it is counted.
   */
  countPiece(text: Buffer): Promise<CountedPiece> {
    return new Promise((resolve) => {
      this.waitingPieces.push({ text, resolve });
      if (!this.countsPiece) void this.countWaitingPieces();
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.thread.close(), this.largeThread.close()]);
  }

  private async countWaitingPieces(): Promise<void> {
    this.countsPiece = true;
    for (let next = this.waitingPieces.shift(); next; next = this.waitingPieces.shift()) {
      const { text, resolve } = next;
      try {
        resolve((await this.thread.run({ piece: text.toString('latin1') })) as CountedPiece);
      } catch {
        resolve({ tokens: leastTokensOf(text.toString('latin1')), rest: '', isEstimate: true });
      }
    }
    this.countsPiece = false;
  }
}

/**
 * Nearly everything that counting allocates is garbage at once. Without a bound the thread's heap would grow to several times
 * the tokenizer.
 */
const youngHeapMb = 6;
/** The tokenizer takes about 45 MB of it. */
const piecesHeapMb = 96;

interface CountThreadOptions {
  heapMb?: number;
  /** Without it the thread never stops. */
  idleMs?: number;
}

function countThread({
  heapMb,
  idleMs,
}: CountThreadOptions): SideThread<CountRequest | PieceRequest, CountResult | CountedPiece> {
  const resourceLimits = {
    maxYoungGenerationSizeMb: youngHeapMb,
    ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
  };
  const options = idleMs === undefined ? { resourceLimits } : { resourceLimits, idleMs };
  return new SideThread(new URL('./count-thread.js', import.meta.url), options);
}
