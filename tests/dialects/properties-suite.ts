/** Property tests for the requests, answers and streams of a dialect, with repeatable seeds. */
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../src/doors/chat/read-request.js';
import { dialectOf } from '../../src/providers/dialects/registry.js';
import { readAnswer } from '../../src/providers/translation.js';
import type { Json } from '../support/client.js';
import { forSeeds } from '../support/seeded-random.js';
import { type Chunk, expectedOf, expectedUsage, gather } from './answers.js';
import type { DialectFixture } from './dialect-fixture.js';
import { meaningOfOpenAi } from './meaning.js';
import { randomChat, randomSaid } from './random-chat.js';
import { escapedJson, plainJson } from './rig.js';

const bytesOf = (chunk: string): Buffer => Buffer.from(chunk, 'latin1');

export function propertiesSuite(fixture: DialectFixture): void {
  const { dialect, upstreamModel } = fixture;
  const target = {
    upstreamModel,
    baseUrl: `http://upstream.example${fixture.basePath}`,
    streamUsage: true,
    maxOutputTokens: 8192,
  };

  describe(`properties of the dialect ${dialect}`, () => {
    it('a request means the same after its translation, in either encoding', () => {
      forSeeds(300, (random) => {
        const chat = randomChat(random);
        const write = random.pick([plainJson, escapedJson]);
        const request = readRequest(Buffer.from(write({ model: 'a/b/c', ...chat })));
        const { body } = dialectOf(dialect).callOf(request, target);
        const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
        expect(fixture.meaningOf(JSON.parse(bytes.toString('utf8')))).toEqual(meaningOfOpenAi(chat));
      });
    });

    it('a whole answer means the same after its translation, in either encoding', () => {
      forSeeds(300, (random) => {
        const said = randomSaid(random);
        const write = random.pick([plainJson, escapedJson]);
        const reading = readAnswer(Buffer.from(write(fixture.whole(said))), dialect, { contextWindow: null });
        if (reading.kind !== 'completion') throw new Error(JSON.stringify(reading));
        const { members, encoding, usage } = reading.parts;
        const { choices } = JSON.parse(`{${Buffer.from(members, encoding)}}`) as { choices: WholeChoice[] };
        expect(gotOf(choices[0]!)).toEqual(expectedOf(said));
        expect(usage).toMatchObject(expectedUsage(said, fixture.countsReasoning));
      });
    });

    it('any split of a stream\u2019s bytes gives the same chunks, and they say what was said', () => {
      forSeeds(60, (random) => {
        const said = randomSaid(random);
        const write = random.pick([plainJson, escapedJson]);
        const bytes = Buffer.concat(fixture.frames(said, write).map((frame) => Buffer.from(frame as string)));
        const chunks = fixture.chunksOf([bytes]);
        expect(fixture.chunksOf(random.cuts(bytes))).toEqual(chunks);
        expect(fixture.chunksOf([...bytes].map((byte) => Buffer.from([byte])))).toEqual(chunks);
        const parsed = chunks
          .filter((chunk) => chunk !== '[DONE]')
          .map((chunk) => JSON.parse(bytesOf(chunk).toString('utf8')) as Chunk);
        expect(gather(parsed.map(named))).toEqual(expectedOf(said));
        expect(parsed.findLast(({ usage }) => usage)?.usage).toMatchObject(
          expectedUsage(said, fixture.countsReasoning),
        );
      });
    });

    it('every piece of text comes in chunks of one shape, so that the relay need not parse them', () => {
      const text = Array.from({ length: 50 }, (_, at) => `w${at}`);
      const frames = fixture.frames(
        { text, finish: 'stop', usage: { prompt: 1, cached: 0, completion: 1, reasoning: 0 } },
        plainJson,
      );
      const chunks = fixture.chunksOf(frames.map((frame) => Buffer.from(frame as string)));
      const shapes = new Set(
        chunks.flatMap((chunk) => (/"content":"w\d+"/.test(chunk) ? [chunk.replace(/w\d+/, '')] : [])),
      );
      expect(shapes.size).toBe(1);
    });
  });
}

interface WholeChoice {
  message: Json & { tool_calls?: { id: string; function: { name: string; arguments: string } }[] };
  finish_reason: string;
}

function gotOf({ message, finish_reason }: WholeChoice) {
  return {
    content: message.content,
    reasoning: message.reasoning_content ?? '',
    toolCalls: (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called })),
    finish: finish_reason,
  };
}

/** The relay writes ids and objects, and a delta where the provider left it out. */
function named(chunk: Chunk): Chunk {
  const choices = chunk.choices.map((choice) => ({ ...choice, delta: choice.delta ?? {} }));
  return { ...chunk, id: 'gen-1', object: 'chat.completion.chunk', choices };
}
