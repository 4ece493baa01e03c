/** The one suite that every dialect passes, through a running gateway: each case whole and streamed. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { chunksOf, expectedOf, expectedUsage, gather, wholeAnswer } from './answers.js';
import { type Case, type CaseName, cases } from './cases.js';
import { type DialectFixture, type Refused, refusable } from './dialect-fixture.js';
import { type DialectRig, escapedJson, pin, plainJson, playStream, playWhole, startDialect } from './rig.js';

export function dialectSuite(fixture: DialectFixture): void {
  describe(`the dialect ${fixture.dialect}`, () => {
    let rig: DialectRig;
    beforeAll(async () => {
      rig = await startDialect(fixture);
    });
    afterAll(() => rig.stop());
    beforeEach(() => rig.upstream.reset());

    for (const each of cases) {
      const lack = fixture.lacks[each.name];
      if (lack === undefined) oneCase(fixture, () => rig, each);
      else it.skip(`${each.name}: ${lack}`, () => {});
    }

    for (const param of Object.keys(refusable) as Refused[]) refusal(fixture, () => rig, param);

    it('what asks for nothing is neither refused nor sent on', async () => {
      const { upstream, gateway } = rig;
      const { request, said } = cases[0]!;
      upstream.reply(playWhole(fixture, said));
      const noOps = { n: 1, logprobs: false, logit_bias: {}, response_format: { type: 'text' } };
      const reply = await gateway.chat({ model: pin, ...request, ...noOps });
      expect(reply.status, reply.text).toBe(200);
      expectHeard(fixture, rig, 'plain', fixture.paths.whole);
    });

    it('says of a stream that is asked for without usage no more than its finish', async () => {
      const { request, said } = cases[0]!;
      rig.upstream.reply(playStream(fixture, said));
      const chunks = chunksOf(await rig.gateway.stream({ model: pin, ...request }));
      expect(gather(chunks)).toEqual(expectedOf(said));
      expect(chunks.filter(({ usage }) => usage)).toEqual([]);
      expect(chunks.at(-1)!.choices[0]!.finish_reason).toBe('stop');
    });
  });
}

function oneCase(fixture: DialectFixture, rig: () => DialectRig, { name, request, said, escaped }: NamedCase): void {
  const write = escaped ? escapedJson : plainJson;
  it(`${name}, whole: the upstream hears it, and the caller gets what was said`, async () => {
    const { upstream, gateway } = rig();
    upstream.reply(playWhole(fixture, said, write));
    const reply = await gateway.chat(write({ model: pin, ...request }));
    expect(wholeAnswer(reply)).toEqual(expectedOf(said));
    expect(reply.json.usage).toMatchObject(expectedUsage(said, fixture.countsReasoning));
    expectHeard(fixture, rig(), name, fixture.paths.whole);
  });

  it(`${name}, streamed: the upstream hears it, and the caller gets what was said`, async () => {
    const { upstream, gateway } = rig();
    upstream.reply(playStream(fixture, said, { write }));
    const options = { stream_options: { include_usage: true } };
    const chunks = chunksOf(await gateway.stream({ model: pin, ...request, ...options }));
    expect(gather(chunks)).toEqual(expectedOf(said));
    const last = chunks.at(-1)!;
    expect(last.choices).toEqual([]);
    expect(last.usage).toMatchObject(expectedUsage(said, fixture.countsReasoning));
    expect(last.router_metadata?.stream_end).toBe('complete');
    expectHeard(fixture, rig(), name, fixture.paths.stream);
  });
}

function refusal(fixture: DialectFixture, rig: () => DialectRig, param: Refused): void {
  const { request, said } = cases[0]!;
  const refused = fixture.refuses.includes(param);

  it(`${param} is ${refused ? 'refused before it is sent' : 'sent on'}`, async () => {
    const { upstream, gateway } = rig();
    upstream.reply(playWhole(fixture, said));
    const reply = await gateway.chat({ model: pin, ...request, ...refusable[param] });
    expect(reply.status, reply.text).toBe(refused ? 400 : 200);
    expect(upstream.calls).toHaveLength(refused ? 0 : 1);
    if (!refused) return;
    expect(reply.json.error).toMatchObject({ param: Object.keys(refusable[param])[0] });
    expect(reply.json.error).not.toHaveProperty('code');
  });
}

type NamedCase = Case & { name: CaseName };

function expectHeard(fixture: DialectFixture, { upstream }: DialectRig, name: CaseName, path: string): void {
  expect(upstream.calls).toHaveLength(1);
  const [call] = upstream.calls;
  expect([call!.method, call!.path]).toEqual(['POST', path]);
  const { stream, stream_options, ...body } = call!.json as Json;
  expect(body).toEqual(fixture.requests[name]);
}
