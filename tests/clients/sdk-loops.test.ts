/** What the official clients do beyond one call: tool runners, stream helpers, parsing, counting and streams of events. */
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { useDoors } from '../doors/door-gateway.js';
import { upstreamsOf } from '../doors/doors.js';
import { answer, description, expectWeather, playWeather, question, routes, schema, weatherIn } from './weather.js';

const bench = useDoors();
let key = '';
beforeAll(async () => {
  key = (await bench.gateway.createAccount()).key;
});
const anthropic = () => new Anthropic({ apiKey: key, baseURL: bench.gateway.url, maxRetries: 0 });
const openai = () => new OpenAI({ apiKey: key, baseURL: `${bench.gateway.url}/v1`, maxRetries: 0 });

describe.each(['messages', 'chat'] as const)('Anthropic’s client on a provider that speaks %s', (api) => {
  const { model, server } = routes[api];
  const messages = [{ role: 'user' as const, content: question }];
  const weather = betaTool({
    name: 'weather',
    description,
    inputSchema: schema,
    run: ({ city }) => weatherIn(String(city)),
  });

  it.each([false, true])('its tool runner works (streamed: %s)', async (stream) => {
    const script = playWeather(bench, api);
    const last = await anthropic().beta.messages.toolRunner({
      ...{ model, max_tokens: 2_000, messages, tools: [weather], stream },
    });
    expect(last.content).toMatchObject([{ type: 'text', text: answer }]);
    expect(last.usage).toMatchObject({ input_tokens: 1_000, output_tokens: 10 });
    expectWeather(script);
  });

  it('its stream helper tells of text, pieces of input and whole blocks', async () => {
    playWeather(bench, api);
    const tools = [{ name: 'weather', description, input_schema: schema }];
    const inputs: unknown[] = [];
    const blocks: string[] = [];
    const stream = anthropic().messages.stream({ model, max_tokens: 2_000, messages, tools });
    stream.on('inputJson', (_, snapshot) => inputs.push(snapshot));
    stream.on('contentBlock', ({ type }) => blocks.push(type));
    const message = await stream.finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(inputs.at(-1)).toEqual({ city: 'Köln' });
    expect(blocks).toEqual(['thinking', 'tool_use']);
    bench[server].reset();
    bench[server].enqueue(upstreamsOf.messages!.find((each) => each.server === server)!.stream(['Grü', 'ße']));
    const texts: string[] = [];
    await anthropic()
      .messages.stream({ model, max_tokens: 100, messages })
      .on('text', (text) => texts.push(text))
      .done();
    expect(texts).toEqual(['Grü', 'ße']);
  });
});

describe.each(['responses', 'chat', 'messages'] as const)('OpenAI’s client on a provider that speaks %s', (api) => {
  const { model } = routes[api];
  const tools = [{ type: 'function' as const, name: 'weather', description, parameters: schema, strict: true }];

  it.each([false, true])('works through the task with items of its own (streamed: %s)', async (streamed) => {
    const script = playWeather(bench, api);
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
    const types = new Set<string>();
    for (;;) {
      const asked = { model, input, tools, store: false };
      const stream = streamed ? openai().responses.stream(asked) : null;
      stream?.on('event', ({ type }) => types.add(type));
      const said = stream ? await stream.finalResponse() : await openai().responses.create(asked);
      input.push(...(said.output as OpenAI.Responses.ResponseInput));
      const calls = (said.output as OpenAI.Responses.ResponseOutputItem[]).flatMap((item) =>
        item.type === 'function_call' ? [item] : [],
      );
      if (calls.length === 0) {
        expect(said.output_text).toBe(answer);
        expect(said).toMatchObject({ status: 'completed', usage: { total_tokens: 1_010, cost: expect.any(Number) } });
        break;
      }
      for (const { call_id, arguments: text } of calls) {
        input.push({ type: 'function_call_output', call_id, output: weatherIn(JSON.parse(text).city) });
      }
    }
    expectWeather(script);
    if (!streamed) return;
    for (const type of ['response.output_text.delta', 'response.function_call_arguments.delta', 'response.completed'])
      expect(types).toContain(type);
  });
});

describe.each(upstreamsOf.responses!.map((upstream) => [upstream.pin, upstream] as const))(
  'OpenAI’s client on %s',
  (model, upstream) => {
    it('parses an answer by its schema', async () => {
      bench[upstream.server].enqueue(upstream.whole('{"city":"Köln"}'), upstream.stream(['{"city":', '"Köln"}']));
      const text = { format: zodTextFormat(z.object({ city: z.string() }), 'place') };
      const parsed = await openai().responses.parse({ model, input: question, text, store: false });
      expect(parsed.output_parsed).toEqual({ city: 'Köln' });
      const streamed = await openai().responses.stream({ model, input: question, text, store: false }).finalResponse();
      expect(streamed.output_parsed).toEqual({ city: 'Köln' });
    });
  },
);
