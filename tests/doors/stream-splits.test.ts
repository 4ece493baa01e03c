/** Streams of every dialect through every door that streams: the events are the same wherever the bytes are split, and say what was said. */
import { describe, expect, it } from 'vitest';
import type { Door } from '../../src/doors/door.js';
import { doorNamed } from '../../src/doors/registry.js';
import { dialectOf } from '../../src/providers/dialects/registry.js';
import type { FrameConsumer } from '../../src/providers/frame-consumer.js';
import { nativeApis } from '../../src/providers/native-pass.js';
import { NativeFrames, TranslatedFrames } from '../../src/providers/translated-frames.js';
import { AwsEventStreamReader } from '../../src/providers/transport/aws-event-stream.js';
import { SseReader } from '../../src/providers/transport/sse-frames.js';
import { anthropicFixture } from '../dialects/anthropic.js';
import { bedrockFixture } from '../dialects/bedrock.js';
import type { Said, WriteJson } from '../dialects/dialect-fixture.js';
import { geminiFixture } from '../dialects/gemini.js';
import { openAiFixture } from '../dialects/openai.js';
import { randomSaid } from '../dialects/random-chat.js';
import { escapedJson, plainJson } from '../dialects/rig.js';
import { PlayedRelay } from '../support/played-relay.js';
import { scaled } from '../support/scaled.js';
import { forSeeds, SeededRandom } from '../support/seeded-random.js';
import { heardAt } from './heard.js';
import { responseFrames } from './response-frames.js';

interface Source {
  readonly name: string;
  /** The dialect of the stream; null where it is the Responses API. */
  readonly dialect: string | null;
  frames(said: Said, write: WriteJson): readonly (string | Uint8Array)[];
}

const fixtures = [openAiFixture, anthropicFixture, geminiFixture, bedrockFixture];
const sources: readonly Source[] = [
  ...fixtures.map(({ dialect, frames }) => ({ name: dialect, dialect, frames })),
  { name: 'responses', dialect: null, frames: responseFrames },
];

const bodies: Record<string, object> = {
  chat: { model: 'a/b/c', messages: [{ role: 'user', content: 'Hi' }], stream: true },
  messages: { model: 'a/b/c', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
  responses: { model: 'a/b/c', input: 'Hi', stream: true },
};

/** What the client gets. */
function played(door: Door, source: Source, pieces: readonly Buffer[]): string {
  const request = door.readRequest(Buffer.from(JSON.stringify(bodies[door.name])));
  const isNative = source.dialect === null || (door.name === 'messages' && source.dialect === 'anthropic');
  const { relay, caller } = new PlayedRelay({
    includeUsage: request.includeUsage,
    openWriter: () => door.openStream!(request, isNative),
  });
  const translate = source.dialect === null ? null : dialectOf(source.dialect).createStreamTranslator;
  const frames: FrameConsumer = isNative
    ? new NativeFrames(relay, nativeApis[door.name]!.createStreamTranslator())
    : translate
      ? new TranslatedFrames(relay, translate())
      : relay;
  const broken = (): never => {
    throw new Error('the stream is broken');
  };
  const onFrame = frames.onFrame.bind(frames);
  const reader =
    source.dialect === 'bedrock'
      ? new AwsEventStreamReader({ onFrame, onBroken: broken })
      : new SseReader({ onFrame, onOverflow: broken });
  for (const piece of pieces) {
    reader.read(piece);
    frames.onChunkEnd(() => {});
  }
  reader.finish();
  frames.onStreamEnd?.();
  relay.finish();
  const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0 };
  const cost = { pico: 3n, details: { input: 1n, output: 2n }, lines: [], tier: null };
  const billed = { given: relay.usage, usage, cost };
  const sent = caller.written + relay.takeEnd('complete', billed, '{"stream_end":"complete"}');
  // The time of the end is that of the clock.
  return Buffer.from(sent, 'latin1')
    .toString()
    .replace(/"completed_at":\d+/, '"completed_at":0');
}

const doors = ['chat', 'messages', 'responses'].map((name) => doorNamed(name)!);
const passes = doors.flatMap((door) =>
  sources
    .filter(({ dialect }) => dialect !== null || door.name === 'responses')
    .map((source) => [door.name, source.name, door, source] as const),
);

describe.each(passes)('a stream through %s from %s', (_, __, door, source) => {
  it('has the same events wherever its bytes are split, and says what was said', () => {
    // The checksums of Bedrock's frames are dear to make.
    forSeeds(source.dialect === 'bedrock' ? scaled(20, 240) : 240, (random) => {
      const said = randomSaid(random);
      const write = random.pick([plainJson, escapedJson]);
      const bytes = Buffer.concat(source.frames(said, write).map((frame) => Buffer.from(frame as string)));
      const whole = played(door, source, [bytes]);
      expect(played(door, source, random.cuts(bytes, 1 + random.below(60)))).toBe(whole);
      expect(heardAt(door.name, whole)).toEqual(expectedOf(said));
    });
  });

  it('has the same events when every byte comes alone', () => {
    const random = new SeededRandom(7);
    const bytes = Buffer.concat(
      source.frames(randomSaid(random), plainJson).map((frame) => Buffer.from(frame as string)),
    );
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    expect(played(door, source, single)).toBe(played(door, source, [bytes]));
  });
});

function expectedOf({ text = [], reasoning = [], toolCalls = [] }: Said) {
  return {
    text: text.join(''),
    reasoning: reasoning.join(''),
    calls: toolCalls.map(({ name, arguments: pieces }) => ({ name, input: JSON.parse(pieces.join('')) })),
  };
}
