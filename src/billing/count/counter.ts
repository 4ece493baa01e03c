/** Token counts for answers without usage, made in a thread of their own so that a cut 5 MB stream holds up nobody. */
import { SideThread } from '../../base/side-thread.js';

export interface CountRequest {
  /** The request's members (see ChatRequest). */
  members: string | Uint8Array;
  encoding: 'latin1' | 'utf8';
  /** The delivered text as the inside of a JSON string, in latin1. */
  delivered: string;
}

export interface CountResult {
  promptTokens: number;
  completionTokens: number;
}

/** English averages four characters a token; only used when the counting thread itself fails. */
const charactersPerToken = 4;

/** Above this size counting takes so long that others must not wait behind it (ruling 17). */
const largeLength = 512 * 1024;

export class TokenCounter {
  private readonly thread = countThread();
  private readonly largeThread = countThread();

  async count(request: CountRequest): Promise<CountResult> {
    const large = request.members.length + request.delivered.length > largeLength;
    try {
      return await (large ? this.largeThread : this.thread).run(request);
    } catch {
      // Delivered text is never free, whatever happens to the counter (failure case A6).
      return {
        promptTokens: Math.ceil(request.members.length / charactersPerToken),
        completionTokens: Math.ceil(request.delivered.length / charactersPerToken),
      };
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.thread.close(), this.largeThread.close()]);
  }
}

function countThread(): SideThread<CountRequest, CountResult> {
  return new SideThread(new URL('./count-thread.js', import.meta.url), { idleMs: 120_000 });
}
