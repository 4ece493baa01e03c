/** A script of what the sandbox sends, and the player that sends it with one timer per call and no burst after a pause. */
import type { UpstreamCall, UpstreamHandler } from '../transport/transport.js';

export interface Script {
  readonly status: number;
  readonly contentType: 'application/json' | 'text/event-stream';
  /** The wait before the status and the first piece; null = nothing is ever sent. */
  readonly firstByteMs: number | null;
  /** The wait before each later piece. */
  readonly paceMs: number;
  readonly pieces: readonly Buffer[];
  /** The number of pieces before those that close the answer. */
  readonly contentPieces: number;
  /** What follows the last piece: the end of the body, nothing, or a lost connection. */
  readonly ending: 'end' | 'silence' | 'break';
}

export class ScriptPlayer implements UpstreamCall {
  private timer: NodeJS.Timeout | undefined;
  private next = 0;
  private paused = false;
  private over = false;

  constructor(
    private readonly script: Script,
    private readonly handler: UpstreamHandler,
    private readonly onOver: (player: ScriptPlayer) => void,
  ) {
    if (script.firstByteMs !== null) this.timer = setTimeout(() => this.begin(), script.firstByteMs);
  }

  abort(): void {
    this.finish();
  }

  fail(error: Error & { code?: string }): void {
    if (this.finish()) this.handler.onError(error);
  }

  private begin(): void {
    const { status, contentType } = this.script;
    this.handler.onHeaders(status, ['content-type', contentType], () => this.resume());
    if (!this.over) this.step();
  }

  private step(): void {
    const { pieces, ending } = this.script;
    const piece = pieces[this.next];
    if (piece === undefined) {
      if (ending === 'break') this.fail(Object.assign(new Error('the connection was lost'), { code: 'ECONNRESET' }));
      else if (ending === 'end' && this.finish()) this.handler.onEnd();
      return;
    }
    this.next++;
    this.paused = !this.handler.onData(piece);
    if (!this.over && !this.paused) this.schedule();
  }

  /** A silent call has no timer; only abort() ends it. */
  private schedule(): void {
    const { pieces, ending, paceMs } = this.script;
    if (this.next < pieces.length) this.timer = setTimeout(() => this.step(), paceMs);
    else if (ending === 'break') this.timer = setTimeout(() => this.step(), paceMs);
    else if (ending === 'end') this.step();
  }

  private resume(): void {
    if (this.over || !this.paused) return;
    this.paused = false;
    this.schedule();
  }

  /** Returns true the first time. */
  private finish(): boolean {
    if (this.over) return false;
    this.over = true;
    clearTimeout(this.timer);
    this.onOver(this);
    return true;
  }
}
