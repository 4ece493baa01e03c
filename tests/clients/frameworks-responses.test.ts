/** LangChain and the AI SDK, unchanged, through /v1/responses without stored responses. */
import { createOpenAI } from '@ai-sdk/openai';
import { type AIMessageChunk, type BaseMessage, HumanMessage, type ToolMessage } from '@langchain/core/messages';
import { tool as langchainTool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai';
import { beforeAll, describe, expect, it } from 'vitest';
import { useDoors } from '../doors/door-gateway.js';
import {
  type Api,
  answer,
  description,
  expectWeather,
  playWeather,
  question,
  routes,
  schema,
  weatherIn,
} from './weather.js';

const bench = useDoors();
let key = '';
let baseURL = '';
beforeAll(async () => {
  key = (await bench.gateway.createAccount()).key;
  baseURL = `${bench.gateway.url}/v1`;
});

const cases = (['responses', 'chat', 'messages'] as const).flatMap((api) =>
  [false, true].map((streamed) => ({ api, streamed, how: streamed ? 'streamed' : 'whole' })),
);

/** No client may ask for a stored response: the requests reach the provider without a memory. */
function expectNotStored(api: Api): void {
  if (api !== 'responses') return;
  for (const call of bench.native.calls) expect(call.json).toMatchObject({ store: false });
}

describe('LangChain', () => {
  it.each(cases)('runs tools on a provider that speaks $api, $how', async ({ api, streamed }) => {
    const script = playWeather(bench, api);
    const model = new ChatOpenAI({
      ...{ model: routes[api].model, apiKey: key, configuration: { baseURL }, maxRetries: 0 },
      ...{ useResponsesApi: true, zdrEnabled: true },
    });
    const weather = langchainTool(({ city }: { city: string }) => weatherIn(city), {
      name: 'weather',
      description,
      schema,
    });
    const bound = model.bindTools([weather]);
    const say = async (messages: BaseMessage[]): Promise<AIMessageChunk> => {
      if (!streamed) return bound.invoke(messages);
      let whole: AIMessageChunk | undefined;
      for await (const chunk of await bound.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
      return whole!;
    };
    const answerOf = weather.invoke.bind(weather) as (call: object) => Promise<ToolMessage>;
    const messages: BaseMessage[] = [new HumanMessage(question)];
    let said = await say(messages);
    while (said.tool_calls!.length > 0) {
      messages.push(said);
      for (const call of said.tool_calls!) messages.push(await answerOf({ ...call, type: 'tool_call' }));
      said = await say(messages);
    }
    expect(said.text).toBe(answer);
    expect(said.usage_metadata).toMatchObject({ input_tokens: 1_000, output_tokens: 10 });
    expectWeather(script);
    expectNotStored(api);
  });
});

describe('AI SDK', () => {
  it.each(cases)('runs tools on a provider that speaks $api, $how', async ({ api, streamed }) => {
    const script = playWeather(bench, api);
    const settings = {
      model: createOpenAI({ baseURL, apiKey: key }).responses(routes[api].model),
      prompt: question,
      tools: {
        weather: tool({
          description,
          inputSchema: jsonSchema<{ city: string }>(schema),
          execute: ({ city }) => weatherIn(city),
        }),
      },
      stopWhen: stepCountIs(5),
      maxRetries: 0,
      providerOptions: { openai: { store: false } },
    };
    const result = streamed ? streamText(settings) : await generateText(settings);
    expect(await result.text).toBe(answer);
    expect(await result.totalUsage).toMatchObject({ inputTokens: 3_000, outputTokens: 30 });
    expectWeather(script);
    expectNotStored(api);
  });
});
