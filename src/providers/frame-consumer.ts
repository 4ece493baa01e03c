/** What takes the frames of an upstream's stream as they arrive. */
import type { Latin1Text } from '../base/latin1.js';
import { collectSoon } from '../base/v8-settings.js';
import { excessOfText, mainThreadBounds } from '../wire/answer-bounds.js';

/** `more`: continue; `ending`: possibly the last frame, so wait only briefly; `done`: ignore further frames; `failed`: the consumer knows why. */
export type FrameVerdict = 'more' | 'ending' | 'done' | 'failed';

export interface FrameConsumer {
  onFrame(text: Latin1Text, start: number, end: number, event: string): FrameVerdict;
  /** The upstream closed its stream. Only consumers that may then emit more frames need it. */
  onStreamEnd?(): FrameVerdict;
  /** The stream is over, however it ended. Only consumers that hold back what it is billed by need it. */
  onStreamOver?(): void;
  /** All frames of a read have been passed on. False = the client is slow: pause until `resume` is called. */
  onChunkEnd(resume: () => void): boolean;
}

const largeCharacters = 1024 * 1024;

/** Why a frame is not given to any consumer, as the end of "a frame that …"; null where it may be. */
export function excessOfFrame(text: Latin1Text, start: number, end: number): string | null {
  if (end - start > largeCharacters) collectSoon();
  return excessOfText(text, start, end, mainThreadBounds);
}
