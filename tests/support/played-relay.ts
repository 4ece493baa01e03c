/** A stream relay between a played upstream and a recording caller. */

import { asLatin1 } from '../../src/base/latin1.js';
import type { CountedPiece } from '../../src/billing/count/count-pieces.js';
import type { Snapshot } from '../../src/catalogue/route.js';
import { chatStream } from '../../src/doors/chat/write-answer.js';
import type { StreamWriter } from '../../src/doors/door.js';
import type { Caller } from '../../src/pipeline/caller.js';
import { StreamRelay } from '../../src/pipeline/respond/stream-relay.js';
import type { FrameVerdict } from '../../src/providers/frame-consumer.js';
import { unknownTerritory } from '../../src/territory/territory.js';
import { smallSnapshot } from './snapshot.js';

export class RecordingCaller implements Caller {
  readonly authorization = undefined;
  readonly contentType = undefined;
  readonly contentLength = null;
  readonly header = () => undefined;
  readonly origin = { address: '127.0.0.1', territory: unknownTerritory };
  identity = null;
  gone = false;
  onGone: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  opened = 0;
  slow = false;
  /** Latin1, as it goes to the wire. */
  written = '';
  ended = false;
  bodyAtHand(): null {
    return null;
  }

  readBody(): Promise<Buffer> {
    throw new Error('a relay reads no body');
  }
  releaseBody(): void {}
  answer(): void {
    throw new Error('a relay sends no whole answer');
  }
  openStream(): void {
    this.opened++;
  }
  write(text: string): boolean {
    this.written += text;
    return !this.slow;
  }
  endStream(text: string): void {
    this.written += text;
    this.ended = true;
  }
  /** The data of every frame, parsed; text such as `[DONE]` as it is. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into frames of any shape
  get frames(): any[] {
    const text = Buffer.from(this.written, 'latin1').toString('utf8');
    if (text !== '' && !text.endsWith('\n\n')) throw new Error('the last frame is not whole');
    return text
      .split('\n\n')
      .slice(0, -1)
      .map((frame) => {
        if (!frame.startsWith('data: ') || frame.includes('\n')) throw new Error(`no frame of ours: ${frame}`);
        return frame === 'data: [DONE]' ? '[DONE]' : JSON.parse(frame.slice(6));
      });
  }
  get text(): string {
    return this.frames.map((frame) => frame.choices?.[0]?.delta?.content ?? '').join('');
  }
}

/** Counts a token a character of what it is given, and leaves nothing over. */
class CountedPieces {
  readonly texts: string[] = [];
  count(piece: string): CountedPiece {
    this.texts.push(piece);
    return { tokens: piece.length, rest: '' };
  }
}

let small: Snapshot | undefined;
/** Made once: property tests play thousands of relays. */
const known = (): Snapshot => {
  small ??= smallSnapshot();
  return small;
};

export class PlayedRelay {
  readonly caller = new RecordingCaller();
  readonly pieces = new CountedPieces();
  readonly relay: StreamRelay;
  readonly route;
  /** When what is owed was written down, by the text that was sent until then. */
  readonly recorded: { left: boolean; characters: number }[] = [];

  constructor({
    includeUsage = false,
    choices = 1,
    upstreamModels = [] as [string, string][],
    openWriter = (): StreamWriter => chatStream,
  } = {}) {
    const models = new Map(upstreamModels.map(([name, id]) => [name, new Set([id])]));
    const snapshot: Snapshot = { ...known(), upstreamModels: models };
    this.route = snapshot.routes.get('acme/meta/llama/defra')!;
    this.relay = new StreamRelay(this.caller, {
      answer: null,
      counter: { countPiece: async (piece) => this.pieces.count(piece.toString('latin1')) },
      openWriter,
      requestId: 'req-1',
      nowMs: () => performance.now(),
      id: 'gen-1',
      created: 7,
      includeUsage,
      choices,
      snapshot,
      headers: () => [],
      metadata: (route) => `{"provider":"${route.provider.id}"}`,
      recordSoFar: (_, left) => this.recorded.push({ left, characters: this.relay.deliveredCharacters }),
    });
    this.relay.begin(this.route, { reportContent: () => {} });
  }

  /** One frame, as a chunk of its own; an object is its JSON, text is the data as it stands. */
  frame(data: unknown): FrameVerdict {
    const text = Buffer.from(typeof data === 'string' ? data : JSON.stringify(data)).toString('latin1');
    const verdict = this.relay.onFrame(asLatin1(`data: ${text}\n\n`), 6, 6 + text.length);
    this.relay.onChunkEnd(() => {});
    return verdict;
  }

  /** What has been delivered, unescaped. */
  get delivered(): string {
    return JSON.parse(`"${Buffer.from(this.relay.delivered.uncounted, 'latin1').toString('utf8')}"`) as string;
  }
}
