/** LangChain.js against every dialect: a tool call in two steps, structured output, errors and a broken-off stream. */
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  type ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { describe, expect, it } from 'vitest';
import {
  answer,
  conversations,
  instructions,
  parallelCalls,
  question,
  reasonedCall,
  type TwoSteps,
  usages,
  writtenResult,
} from './conversations.js';
import { budgeted, dialects, gemini3, type Spoken, useDialects } from './dialect-gateway.js';
import { expectFittingResults } from './gemini-heard.js';
import { expectAborted, expectSchema, failWith, playAnswer, playUnfinished } from './single-answers.js';
import { thinkingHeard } from './thinking-heard.js';
import { toolSchemas } from './tool-schemas.js';
import { enqueueSteps, expectBoth, toolRuns } from './two-steps.js';

const rig = useDialects();
const modelOf = ({ pin }: Spoken, more: ChatOpenAIFields = {}) =>
  new ChatOpenAI({
    model: pin,
    apiKey: rig.account.key,
    configuration: { baseURL: rig.baseURL },
    maxRetries: 0,
    ...more,
  });
const ask = [new SystemMessage(instructions), new HumanMessage(question)];
const extras = { parallel_tool_calls: true, strict: true, seed: 7, promptCacheKey: 'k' };
const kwargs = {
  modelKwargs: { reasoning_effort: 'low', user: 'caller-7', fallback: { models: [] } },
  verbosity: 'low' as const,
};

interface Runnable {
  invoke(messages: BaseMessage[]): Promise<AIMessageChunk>;
  stream(messages: BaseMessage[]): Promise<AsyncIterable<AIMessageChunk>>;
}

async function say(model: Runnable, messages: BaseMessage[], streamed: boolean): Promise<AIMessageChunk> {
  if (!streamed) return model.invoke(messages);
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
  return whole!;
}

/** The loop as its documentation has it: call, invoke each tool with its call, call again. */
async function callTools(model: ChatOpenAI, steps: TwoSteps, streamed: boolean, more: object = {}) {
  const { run, expectRun } = toolRuns(steps);
  const tools = toolSchemas.map(({ name, description, parameters }) => {
    const written = (input: unknown) => writtenResult({ ...steps.calls[0]!, result: run(name)(input) });
    return tool(written, { name, description, schema: { type: 'object', ...parameters } });
  });
  const bound = model.bindTools(tools, more);
  const first = await say(bound, ask, streamed);
  const results: ToolMessage[] = [];
  for (const call of first.tool_calls!) {
    const called = tools.find(({ name }) => name === call.name)!;
    results.push((await called.invoke({ ...call, type: 'tool_call' })) as unknown as ToolMessage);
  }
  expectRun();
  return { first, second: await say(bound, [...ask, first, ...results], streamed) };
}

describe.each(dialects)('LangChain and $provider', (spoken) => {
  describe.each(conversations)('$name', (steps) => {
    it.each([false, true])('in two steps, streamed: %s', async (streamed) => {
      enqueueSteps(rig, spoken, steps, streamed);
      const { first, second } = await callTools(modelOf(spoken), steps, streamed);
      expect(first.text).toBe(steps.text.join(''));
      expect(second.text).toBe(answer);
      const [before, after] = usages;
      expect(first.usage_metadata).toMatchObject({ input_tokens: before.prompt, output_tokens: before.completion });
      expect(second.usage_metadata).toMatchObject({
        input_tokens: after.prompt,
        output_tokens: after.completion,
        total_tokens: after.prompt + after.completion,
        input_token_details: { cache_read: after.cached },
      });
      expect(second.response_metadata).toMatchObject({ finish_reason: 'stop', model_name: spoken.pin });
      await expectBoth(rig, spoken, steps, streamed);
    });
  });

  it.each([false, true])(
    'fields that not every dialect has a word for break nothing, streamed: %s',
    async (streamed) => {
      enqueueSteps(rig, spoken, reasonedCall, streamed);
      const { second } = await callTools(modelOf(spoken, kwargs), reasonedCall, streamed, extras);
      expect(second.text).toBe(answer);
      await expectBoth(rig, spoken, reasonedCall, streamed);
    },
  );

  it('streams without usage where it is told to', async () => {
    playAnswer(rig, spoken, { city: 'Köln' }, true);
    const whole = await say(modelOf(spoken, { streamUsage: false }), ask, true);
    expect(whole.text).toBe('{"city":"Köln"}');
    expect(whole.usage_metadata).toBeUndefined();
  });

  it('withStructuredOutput gives what the schema says, by schema and by function', async () => {
    const said = { city: 'Köln 😀', stops: [{ name: '"Dom"' }] };
    const stops = { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } };
    const schema = { title: 'trip', type: 'object', properties: { city: { type: 'string' }, stops } };
    const structured = modelOf(spoken).withStructuredOutput(schema, { method: 'jsonSchema' });
    playAnswer(rig, spoken, said, false);
    expect(await structured.invoke(ask)).toEqual(said);
    playAnswer(rig, spoken, said, true);
    let last: unknown;
    for await (const part of await structured.stream(ask)) last = part;
    expect(last).toEqual(said);
    expectSchema(rig, spoken, ['city', 'stops']);
  });

  it('withStructuredOutput by function calling forces the one tool', async () => {
    const [plan] = toolSchemas;
    const [{ input }] = reasonedCall.calls as [TwoSteps['calls'][0]];
    const structured = modelOf(spoken).withStructuredOutput(plan!.parameters, {
      ...{ name: 'plan_trip', method: 'functionCalling' as const },
    });
    enqueueSteps(rig, spoken, reasonedCall, false);
    expect(await structured.invoke(ask)).toEqual(input);
    const { toolChoice, tools } = spoken.fixture.meaningOf(rig.upstream.calls[0]!.json as Record<string, unknown>);
    expect([toolChoice, tools.map(({ name }) => name)]).toEqual(['tool plan_trip', ['plan_trip']]);
  });

  it.each([false, true])('failures are its errors, with our status and code, streamed: %s', async (streamed) => {
    failWith(rig, spoken, 'rejected');
    const rejected = await say(modelOf(spoken), ask, streamed).catch((error: unknown) => error);
    expect(rejected).toMatchObject({ status: 400, code: 'invalid_request_error' });
    expect((rejected as object).constructor.name).toBe('BadRequestError');
    failWith(rig, spoken, 'capacity');
    const failed = await say(modelOf(spoken), ask, streamed).catch((error: unknown) => error);
    expect(failed).toMatchObject({ status: 503, code: 'provider_error', requestID: expect.stringMatching(/^req-/) });
    expect((failed as object).constructor.name).toBe('InternalServerError');
  });

  it('a stream that is aborted ends there and upstream', async () => {
    playUnfinished(rig, spoken);
    const controller = new AbortController();
    let text = '';
    const read = async () => {
      for await (const chunk of await modelOf(spoken).stream(ask, { signal: controller.signal })) {
        text += chunk.text;
        if (text === 'One two') controller.abort();
      }
    };
    await expect(read()).rejects.toThrow(/abort/i);
    expect(text).toBe('One two');
    await expectAborted(rig);
  });
});

describe.each(budgeted)('LangChain and thoughts that $provider wants back', (spoken) => {
  it.each([false, true])('they are lost, and it goes on without thinking, streamed: %s', async (streamed) => {
    enqueueSteps(rig, spoken, reasonedCall, streamed);
    const model = modelOf(spoken, { modelKwargs: { reasoning_effort: 'high' } });
    expect((await callTools(model, reasonedCall, streamed)).second.text).toBe(answer);
    expect(thinkingHeard(rig)).toEqual([
      { budget: true, thoughts: [] },
      { budget: false, thoughts: [] },
    ]);
    await expectBoth(rig, spoken, reasonedCall, streamed);
  });
});

describe('LangChain and calls that Gemini gives no ids', () => {
  it.each([false, true])('their results fit, and the lost signature is made good, streamed: %s', async (streamed) => {
    enqueueSteps(rig, gemini3, parallelCalls, streamed);
    expect((await callTools(modelOf(gemini3), parallelCalls, streamed)).second.text).toBe(answer);
    expectFittingResults(rig);
  });
});
