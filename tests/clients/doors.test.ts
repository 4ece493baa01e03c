import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDoors } from '../doors/door-gateway.js';
import { upstreamsOf } from '../doors/doors.js';
import { chunk, completion, json, sse } from '../support/scripted-upstream.js';

const bench = useDoors();
let key = '';
beforeAll(async () => {
  key = (await bench.gateway.createAccount()).key;
});
const anthropic = () => new Anthropic({ apiKey: key, baseURL: bench.gateway.url, maxRetries: 0 });
const openai = () => new OpenAI({ apiKey: key, baseURL: `${bench.gateway.url}/v1`, maxRetries: 0 });
const messages = [{ role: 'user' as const, content: 'Hi' }];
const clock = { name: 'clock', description: 'The time.', input_schema: { type: 'object' as const, properties: {} } };
const call = { id: 'c1', type: 'function', function: { name: 'clock', arguments: '{"tz":"CET"}' } };

describe.each(upstreamsOf.messages!.map((upstream) => [upstream.pin, upstream] as const))(
  'Anthropic’s client, unchanged, on %s',
  (model, upstream) => {
    it('reads messages, whole and streamed', async () => {
      bench[upstream.server].enqueue(upstream.whole('Grüße 😀'), upstream.stream(['Grü', 'ße']));
      const whole = await anthropic().messages.create({ model, max_tokens: 100, messages });
      expect(whole.content).toMatchObject([{ type: 'text', text: 'Grüße 😀' }]);
      expect(whole).toMatchObject({
        stop_reason: 'end_turn',
        usage: { cost: expect.any(Number) },
        router_metadata: {},
      });
      const stream = anthropic().messages.stream({ model, max_tokens: 100, messages });
      expect(await stream.finalText()).toBe('Grüße');
      expect((await stream.finalMessage()).usage).toMatchObject({ input_tokens: 10, output_tokens: 4 });
    });

    it('counts tokens', async () => {
      if (upstream.server === 'native') bench.native.enqueue(json({ input_tokens: 42 }));
      const { input_tokens: tokens } = await anthropic().messages.countTokens({ model, messages });
      if (upstream.server === 'native') expect(tokens).toBe(42);
      else expect(tokens).toBeGreaterThan(0);
    });

    it('throws its own errors', async () => {
      bench[upstream.server].enqueue(
        json({ error: { message: 'Too busy.', type: 'overloaded_error' } }, { status: 529 }),
      );
      const failed = anthropic().messages.create({ model, max_tokens: 100, messages });
      await expect(failed).rejects.toMatchObject({ status: 503, type: 'overloaded_error' });
    });
  },
);

describe('Anthropic’s client on a translated route', () => {
  it('runs a tool in two steps', async () => {
    bench.plain.enqueue(
      sse([
        chunk({
          delta: { role: 'assistant', tool_calls: [{ index: 0, ...call, function: { name: 'clock', arguments: '' } }] },
        }),
        chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '{"tz":' } }] } }),
        chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: '"CET"}' } }] } }),
        chunk({ delta: {}, finishReason: 'tool_calls' }),
      ]),
      json(completion({ content: 'Noon.' })),
    );
    const asked = { model: 'plain/acme/one/defra', max_tokens: 100, tools: [clock] };
    const first = await anthropic()
      .messages.stream({ ...asked, messages })
      .finalMessage();
    expect(first).toMatchObject({ stop_reason: 'tool_use', content: [{ type: 'tool_use', input: { tz: 'CET' } }] });
    const result = { type: 'tool_result' as const, tool_use_id: 'c1', content: '12:00' };
    const conversation = [
      ...messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: [result] },
    ];
    const second = await anthropic().messages.create({ ...asked, messages: conversation });
    expect(second.content).toMatchObject([{ text: 'Noon.' }]);
    expect(bench.plain.calls[1]!.json).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: '12:00' },
      ],
    });
  });
});

describe.each(upstreamsOf.responses!.map((upstream) => [upstream.pin, upstream] as const))(
  'OpenAI’s client, unchanged, on %s',
  (model, upstream) => {
    it('reads responses, whole, parsed and streamed', async () => {
      bench[upstream.server].enqueue(
        upstream.whole('Grüße 😀'),
        upstream.whole('{"a":1}'),
        upstream.stream(['Grü', 'ße']),
      );
      const whole = await openai().responses.create({ model, input: 'Hi', store: false });
      expect(whole.output_text).toBe('Grüße 😀');
      const format = { type: 'json_schema' as const, name: 'x', schema: { type: 'object' } };
      const parsed = await openai().responses.parse({ model, input: 'Hi', text: { format } });
      expect(parsed.output_text).toBe('{"a":1}');
      const stream = openai().responses.stream({ model, input: 'Hi' });
      const last = await stream.finalResponse();
      expect(last).toMatchObject({ status: 'completed', usage: { cost: expect.any(Number) } });
      expect(last.output_text).toBe('Grüße');
    });
  },
);
