/** Reasoning between the steps of a tool call: what came in `reasoning_details` goes back word for word, with its signature. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../support/client.js';
import { type Chunk, chunksOf } from './answers.js';
import { anthropicFixture } from './anthropic.js';
import { figures, weatherTool } from './cases.js';
import type { Said } from './dialect-fixture.js';
import { type DialectRig, pin, playStream, playWhole, startDialect } from './rig.js';

const said: Said = {
  reasoning: ['The "weather"\n', 'of Köln'],
  toolCalls: [{ id: 'toolu_1', name: 'get_weather', arguments: ['{"city":"Köln"}'] }],
  finish: 'tool_calls',
  usage: figures(),
};
const question = { role: 'user', content: 'Weather?' };
const request = { model: pin, messages: [question], tools: [weatherTool], reasoning_effort: 'high' };

let rig: DialectRig;
beforeAll(async () => {
  rig = await startDialect(anthropicFixture);
});
afterAll(() => rig.stop());
beforeEach(() => rig.upstream.reset());

/** The second step, with the assistant's message as it was; returns what the upstream heard of it. */
async function goOn(message: Json): Promise<unknown> {
  rig.upstream.reset();
  rig.upstream.reply(playWhole(anthropicFixture, { text: ['Grey.'], finish: 'stop', usage: figures() }));
  const result = { role: 'tool', tool_call_id: 'toolu_1', content: 'grey' };
  const reply = await rig.gateway.chat({ ...request, messages: [question, message, result] });
  expect(reply.status, reply.text).toBe(200);
  return (rig.upstream.calls[0]!.json as { messages: { content: unknown }[] }).messages[1]!.content;
}

const heard = [
  { type: 'thinking', thinking: 'The "weather"\nof Köln', signature: expect.stringMatching(/^\w{10,}$/) },
  { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Köln' } },
];

describe('reasoning of Anthropic between the steps of a tool call', () => {
  it('goes back after a whole answer', async () => {
    rig.upstream.reply(playWhole(anthropicFixture, said));
    const reply = await rig.gateway.chat(request);
    expect(await goOn(reply.json.choices[0].message)).toEqual(heard);
  });

  it('goes back after a stream, put together by index', async () => {
    rig.upstream.reply(playStream(anthropicFixture, said));
    const deltas = chunksOf(await rig.gateway.stream(request)).flatMap(({ choices }: Chunk) =>
      choices.map(({ delta }) => delta as Json),
    );
    const reasoning_details = deltas.flatMap((delta) => (delta.reasoning_details ?? []) as Json[]);
    expect(reasoning_details).toHaveLength(1);
    const tool_calls = [
      { id: 'toolu_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Köln"}' } },
    ];
    expect(await goOn({ role: 'assistant', content: null, tool_calls, reasoning_details })).toEqual(heard);
  });
});
