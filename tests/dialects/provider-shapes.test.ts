/** Shapes of answers that only one provider has, whole and streamed, through a running gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { json, type Script } from '../support/scripted-upstream.js';
import type { Bytes } from '../support/upstream-scripts.js';
import { chunksOf, type Got, gather, wholeAnswer } from './answers.js';
import { anthropicFixture } from './anthropic.js';
import { anthropicShapes } from './anthropic-shapes.js';
import { bedrockFixture } from './bedrock.js';
import { bedrockShapes } from './bedrock-shapes.js';
import type { DialectFixture } from './dialect-fixture.js';
import { eventFrame } from './event-stream-frames.js';
import { geminiFixture } from './gemini.js';
import { geminiShapes } from './gemini-shapes.js';
import { type DialectRig, pin, startDialect } from './rig.js';
import type { Shape } from './shapes.js';

const dialects: [DialectFixture, Shape[], (event: Json | [string, Json]) => Bytes][] = [
  [
    anthropicFixture,
    anthropicShapes,
    (event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
  ],
  [
    bedrockFixture,
    bedrockShapes,
    (event) => eventFrame((event as [string, Json])[0], JSON.stringify((event as [string, Json])[1])),
  ],
  [geminiFixture, geminiShapes, (event) => `data: ${JSON.stringify(event)}\r\n\r\n`],
];

const play =
  (contentType: string, frames: Bytes[]): Script =>
  async (exchange) => {
    await exchange.write(`HTTP/1.1 200 OK\r\ncontent-type: ${contentType}\r\ntransfer-encoding: chunked\r\n\r\n`);
    for (const frame of frames) await exchange.writeChunk(frame);
    await exchange.write('0\r\n\r\n');
    exchange.done();
  };

const request = { model: pin, messages: [{ role: 'user', content: 'Go.' }] };

for (const [fixture, shapes, frameOf] of dialects) {
  describe(`answers in the dialect ${fixture.dialect}`, () => {
    let rig: DialectRig;
    beforeAll(async () => {
      rig = await startDialect(fixture);
    });
    afterAll(() => rig.stop());
    beforeEach(() => rig.upstream.reset());

    for (const { title, whole, events, answer, usage, cost } of shapes) {
      const check = (got: Got, gotUsage: Json): void => {
        expect(got).toMatchObject(answer);
        if (usage) expect(gotUsage).toMatchObject(usage);
        if (cost !== undefined) expect(gotUsage.cost).toBeCloseTo(cost, 12);
      };
      if (whole) {
        it(`${title}, whole`, async () => {
          rig.upstream.reply(json(JSON.stringify(whole)));
          const reply = await rig.gateway.chat(request);
          check(wholeAnswer(reply), reply.json.usage);
        });
      }
      if (events) {
        it(`${title}, streamed`, async () => {
          rig.upstream.reply(play(fixture.streamContentType, events.map(frameOf)));
          const reply = await rig.gateway.stream({ ...request, stream_options: { include_usage: true } });
          expect(reply.status, reply.text).toBe(200);
          const chunks = chunksOf(reply);
          expect(chunks.at(-1)!.router_metadata?.stream_end).toBe('complete');
          expect(chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason)).toHaveLength(1);
          check(gather(chunks), chunks.at(-1)!.usage!);
        });
      }
    }
  });
}
