/**
 * Refused bodies are read to be thrown away, a few at a time: node would read megabytes from each connection in a row, and
 * many large uploads without a key would then hold up everybody else (failure case D2i, ruling 17).
 */
import type { Readable } from 'node:stream';

const tickMs = 4;
/** A body gives some 64 to 128 KiB each time, so all of them together some 200 MB a second. */
const bodiesPerTick = 8;

export class PacedDrains {
  private readonly waiting = new Set<Readable>();
  private timer: NodeJS.Timeout | null = null;

  /** Pauses the body until its turn comes. */
  wait(body: Readable): void {
    body.pause();
    this.waiting.add(body);
    this.timer ??= setTimeout(() => this.tick(), tickMs);
  }

  delete(body: Readable): void {
    this.waiting.delete(body);
  }

  private tick(): void {
    this.timer = null;
    let left = bodiesPerTick;
    for (const body of this.waiting) {
      if (left-- === 0) break;
      this.waiting.delete(body);
      body.resume();
    }
    if (this.waiting.size > 0) this.timer ??= setTimeout(() => this.tick(), tickMs);
  }
}
