/** Failures mean the same in every dialect, and streams end the same way however they were cut. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { generations } from '../faults/fixture.js';
import { json } from '../support/scripted-upstream.js';
import { chunksOf } from './answers.js';
import { figures } from './cases.js';
import { type DialectFixture, type FailureMeaning, failureMeanings, type Said } from './dialect-fixture.js';
import { type DialectRig, pin, plainJson, playStream, startDialect } from './rig.js';

const providerError = [503, 'provider_error'];
const rejected = [400, 'invalid_request_error'];
const outcomes: Record<FailureMeaning, (string | number)[]> = {
  rejected,
  too_long: rejected,
  capacity: providerError,
  rate_limit: providerError,
  auth: providerError,
  unknown_model: providerError,
  server_error: providerError,
};

const request = { model: pin, messages: [{ role: 'user', content: 'Say hello.' }] };
const said: Said = { text: ['One', ' two', ' three'], finish: 'stop', usage: figures() };

export function failuresSuite(fixture: DialectFixture): void {
  describe(`failures in the dialect ${fixture.dialect}`, () => {
    let rig: DialectRig;
    beforeAll(async () => {
      const timeouts = { first_byte_streaming: '700ms', stream_idle: '700ms' };
      rig = await startDialect(fixture, { timeouts });
      // The first count of tokens loads the tokenizer, which takes a while.
      rig.upstream.reply(playStream(fixture, said, { after: afterText(fixture, 'One'), ending: 'fin' }));
      await rig.gateway.stream(request);
    });
    afterAll(() => rig.stop());
    beforeEach(() => rig.upstream.reset());

    it.each(failureMeanings)('%s is what it means, whole and streamed', async (meaning) => {
      const { status, body, headers = {} } = fixture.failures[meaning];
      rig.upstream.reply(json(body, { status, headers }));
      for (const reply of [await rig.gateway.chat(request), await rig.gateway.stream(request)]) {
        expect([reply.status, reply.json.error?.code], reply.text).toEqual(outcomes[meaning]);
      }
      expect(rig.upstream.calls).toHaveLength(2);
    });

    it('an error in place of an answer, under a 200, is a failure of the provider', async () => {
      rig.upstream.reply(json(fixture.errorInside));
      for (const reply of [await rig.gateway.chat(request), await rig.gateway.stream(request)]) {
        expect([reply.status, reply.json.error?.code], reply.text).toEqual(providerError);
      }
    });

    it.each(['{}', '[]', '"x"', '{"choices":[]}', 'nothing'])(
      '%s in place of an answer is a failure of the provider',
      async (body) => {
        rig.upstream.reply(json(body));
        const reply = await rig.gateway.chat(request);
        expect([reply.status, reply.json.error?.code], reply.text).toEqual(providerError);
      },
    );

    it('an error before any content is an ordinary answer', async () => {
      rig.upstream.reply(playStream(fixture, said, { after: afterText(fixture, 'One') - 1, ending: 'error' }));
      const reply = await rig.gateway.stream(request);
      expect([reply.status, reply.json.error?.code], reply.text).toEqual(providerError);
    });

    it.each(['end', 'fin', 'reset'] as const)(
      'a stream that ends (%s) before any content is an ordinary failure',
      async (ending) => {
        rig.upstream.reply(playStream(fixture, said, { after: afterText(fixture, 'One') - 1, ending }));
        const reply = await rig.gateway.stream(request);
        expect([reply.status, reply.json.error?.code], reply.text).toEqual(providerError);
      },
    );

    it.each([
      ['error', 'cut'],
      ['end', 'cut'],
      ['fin', 'cut'],
      ['reset', 'cut'],
      ['hang', 'stalled'],
    ] as const)(
      'a stream that after content comes to its %s ends as %s, and no finish_reason is invented',
      async (ending, end) => {
        rig.upstream.reply(playStream(fixture, said, { after: afterText(fixture, ' two'), ending }));
        const reply = await rig.gateway.stream(request);
        const chunks = chunksOf(reply);
        expect([reply.status, reply.content]).toEqual([200, 'One two']);
        expect(chunks.at(-1)!.router_metadata?.stream_end).toBe(end);
        expect(
          chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason ?? null)),
        ).not.toContain('stop');
        expect(reply.text).not.toContain('"error"');
      },
    );

    it.runIf(fixture.usageComesFirst).each(['error', 'end', 'reset', 'hang', 'left'] as const)(
      'a stream that after content comes to its %s is billed by the usage that came until then',
      async (ending) => {
        rig.upstream.reply(
          playStream(fixture, said, {
            after: afterText(fixture, ' two'),
            ending: ending === 'left' ? 'hang' : ending,
          }),
        );
        const account = await rig.gateway.createAccount();
        await rig.gateway.stream(request, { key: account.key, ...(ending === 'left' && { hangUpAfter: 2 }) });
        const [record] = await generations(rig.gateway, account, 1);
        expect(record).toMatchObject({ usage_source: 'provider', prompt_tokens: said.usage.prompt });
      },
    );

    it('a stream of which nothing comes times out', async () => {
      rig.upstream.reply(playStream(fixture, said, { after: 0, ending: 'hang' }));
      const reply = await rig.gateway.stream(request);
      expect([reply.status, reply.json.error?.code]).toEqual([504, 'provider_timeout']);
    });
  });
}

/** How many frames there are up to the one with this text. */
function afterText(fixture: DialectFixture, text: string): number {
  const frames = fixture.frames(said, plainJson);
  return frames.findIndex((frame) => Buffer.from(frame as string).includes(`"${text}"`)) + 1;
}
