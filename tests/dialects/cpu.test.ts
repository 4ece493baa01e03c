/** What a translated chunk costs, beside OpenAI's own in the same run (the bar: at most three times as much CPU). */

import { expect, it } from 'vitest';
import { asLatin1 } from '../../src/base/latin1.js';
import { dialectOf } from '../../src/providers/dialects/registry.js';
import type { FrameConsumer } from '../../src/providers/frame-consumer.js';
import { TranslatedFrames } from '../../src/providers/translated-frames.js';
import { PlayedRelay } from '../support/played-relay.js';
import { anthropicFixture } from './anthropic.js';
import { azureFixture } from './azure.js';
import { figures } from './cases.js';
import type { DialectFixture, Said } from './dialect-fixture.js';
import { openAiFixture } from './openai.js';
import { plainJson } from './rig.js';

const chunkCount = 10_000;
const rounds = 9;
const said: Said = {
  text: Array.from({ length: chunkCount }, (_, at) => (at % 10 === 9 ? 'line\n' : ' word')),
  finish: 'stop',
  usage: figures(),
};

/** The events of a stream as a translator is given them: data and name. */
function eventsOf(fixture: DialectFixture): [data: string, event: string][] {
  return fixture.frames(said, plainJson).map((frame) => {
    const text = Buffer.from(frame as string).toString('latin1');
    return [/^data: (.*)$/m.exec(text)![1]!, /^event: (.*)$/m.exec(text)?.[1] ?? ''];
  });
}

/** Each event arrives in a read of its own, as with a provider that streams word by word. */
function relay({ dialect }: DialectFixture, events: readonly [data: string, event: string][]): number {
  const played = new PlayedRelay();
  const { createStreamTranslator } = dialectOf(dialect);
  const consumer: FrameConsumer = createStreamTranslator
    ? new TranslatedFrames(played.relay, createStreamTranslator())
    : played.relay;
  // What becomes of the written text is none of the relay's work.
  played.caller.write = () => true;
  const before = process.cpuUsage();
  for (const [data, event] of events) {
    consumer.onFrame(asLatin1(data), 0, data.length, event);
    consumer.onChunkEnd(() => {});
  }
  const { user, system } = process.cpuUsage(before);
  expect(played.relay.deliveredCharacters).toBe(JSON.stringify(said.text!.join('')).length - 2);
  return (user + system) / chunkCount;
}

const translated = [azureFixture, anthropicFixture];

it('a chunk of a translated dialect costs at most three times what OpenAI\u2019s costs', () => {
  const fixtures = [openAiFixture, ...translated];
  const events = fixtures.map(eventsOf);
  const costs = fixtures.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (const [at, fixture] of fixtures.entries()) costs[at]!.push(relay(fixture, events[at]!));
  }
  // The machine is shared: the least of several rounds is nearest to the work itself.
  const [own, ...others] = costs.map((all) => Math.min(...all));
  for (const [at, { dialect }] of translated.entries()) {
    const ratio = others[at]! / own!;
    console.log(
      `${dialect}: ${others[at]!.toFixed(2)} µs a chunk, ${ratio.toFixed(2)} × OpenAI's ${own!.toFixed(2)} µs`,
    );
    expect(ratio).toBeLessThan(3);
  }
});
