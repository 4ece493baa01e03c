/**
 * The frames of a stream that are not sent yet: those before the first content, and those with a `finish_reason`, which wait for the
 * usage or the end. An upstream decides how many there are, so each kind has a bound of memory.
 */
import type { Chunk } from '../../wire/chunk.js';

const charactersMax = 64 * 1024;

export class WaitingFrames {
  private early: Chunk[] = [];
  private earlyCharacters = 0;
  private final: Chunk[] = [];
  private finalCharacters = 0;

  get hasFinal(): boolean {
    return this.final.length > 0;
  }

  clear(): void {
    this.takeEarly();
    this.takeFinal();
  }

  /** An upstream may send frames without content for ever; those over the bound say nothing that a caller needs. */
  addEarly(chunk: Chunk, characters: number): void {
    this.earlyCharacters += characters;
    if (this.earlyCharacters <= charactersMax) this.early.push(chunk);
  }

  takeEarly(): Chunk[] {
    this.earlyCharacters = 0;
    return this.early.splice(0);
  }

  /** The frames that must be sent now: where more waits than the choices of an answer need, it was not the end. */
  addFinal(chunk: Chunk, characters: number): Chunk[] {
    const isOver = this.finalCharacters + characters > charactersMax;
    const due = isOver ? this.takeFinal() : [];
    this.final.push(chunk);
    this.finalCharacters += characters;
    return due;
  }

  takeFinal(): Chunk[] {
    this.finalCharacters = 0;
    return this.final.splice(0);
  }
}
