/** The official client against every dialect: a tool call in two steps, structured output, errors and a broken-off stream. */
import OpenAI, { BadRequestError, InternalServerError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  answer,
  conversations,
  instructions,
  parallelCalls,
  question,
  reasonedCall,
  type TwoSteps,
  usages,
} from './conversations.js';
import { budgeted, dialects, gemini3, type Spoken, useDialects } from './dialect-gateway.js';
import { expectFittingResults } from './gemini-heard.js';
import { expectAborted, expectSchema, failWith, playAnswer, playUnfinished } from './single-answers.js';
import { thinkingHeard } from './thinking-heard.js';
import { toolSchemas } from './tool-schemas.js';
import { enqueueSteps, expectBoth, toolRuns } from './two-steps.js';

const rig = useDialects();
const clientOf = () => new OpenAI({ baseURL: rig.baseURL, apiKey: rig.account.key, maxRetries: 0 });
const messages = [
  { role: 'developer' as const, content: instructions },
  { role: 'user' as const, content: question },
];
const extras = {
  parallel_tool_calls: true,
  reasoning_effort: 'low' as const,
  verbosity: 'low' as const,
  seed: 7,
  user: 'caller-7',
  prompt_cache_key: 'k',
};

/** The client's own loop: it calls, runs the tools, and calls again. */
async function runTools({ pin }: Spoken, steps: TwoSteps, streamed: boolean, more: object = {}) {
  const { run, expectRun } = toolRuns(steps);
  const tools = toolSchemas.map(({ name, description, parameters }) => ({
    type: 'function' as const,
    function: { name, description, parameters, parse: (text: string): object => JSON.parse(text), function: run(name) },
  }));
  const body = { model: pin, messages, tools, ...more };
  const runner = streamed
    ? clientOf().chat.completions.runTools({ ...body, stream: true, stream_options: { include_usage: true } })
    : clientOf().chat.completions.runTools(body);
  const text = await runner.finalContent();
  expectRun();
  return { text, usage: await runner.totalUsage(), last: (await runner.finalChatCompletion()).usage };
}

describe.each(dialects)('the official client and $provider', (spoken) => {
  describe.each(conversations)('$name', (steps) => {
    it.each([false, true])('in two steps, streamed: %s', async (streamed) => {
      enqueueSteps(rig, spoken, steps, streamed);
      const { text, usage, last } = await runTools(spoken, steps, streamed);
      expect(text).toBe(answer);
      const [first, second] = usages;
      expect(usage).toMatchObject({
        prompt_tokens: first.prompt + second.prompt,
        completion_tokens: first.completion + second.completion,
      });
      expect(last).toMatchObject({
        prompt_tokens: second.prompt,
        total_tokens: second.prompt + second.completion,
        prompt_tokens_details: { cached_tokens: second.cached },
        cost: 0.0004218,
      });
      await expectBoth(rig, spoken, steps, streamed);
    });
  });

  it.each([false, true])(
    'fields that not every dialect has a word for break nothing, streamed: %s',
    async (streamed) => {
      enqueueSteps(rig, spoken, reasonedCall, streamed);
      expect((await runTools(spoken, reasonedCall, streamed, extras)).text).toBe(answer);
      await expectBoth(rig, spoken, reasonedCall, streamed);
    },
  );

  it('parse gives what the schema says, whole and streamed', async () => {
    const schema = z.object({ city: z.string(), stops: z.array(z.object({ name: z.string() })) });
    const said = { city: 'Köln 😀', stops: [{ name: '"Dom"' }] };
    const body = { model: spoken.pin, messages, response_format: zodResponseFormat(schema, 'trip') };
    playAnswer(rig, spoken, said, false);
    expect((await clientOf().chat.completions.parse(body)).choices[0]!.message.parsed).toEqual(said);
    playAnswer(rig, spoken, said, true);
    const final = await clientOf().chat.completions.stream(body).finalChatCompletion();
    expect(final.choices[0]!.message.parsed).toEqual(said);
    expectSchema(rig, spoken, ['city', 'stops']);
  });

  it.each([false, true])('failures are errors of its own classes, with our codes, streamed: %s', async (stream) => {
    const ask = () => clientOf().chat.completions.create({ model: spoken.pin, messages, stream });
    failWith(rig, spoken, 'rejected');
    const rejected = await ask().catch((error: unknown) => error);
    expect(rejected).toBeInstanceOf(BadRequestError);
    expect(rejected).toMatchObject({ status: 400, code: 'invalid_request_error' });
    failWith(rig, spoken, 'capacity');
    const failed = await ask().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(InternalServerError);
    expect(failed).toMatchObject({ status: 503, code: 'provider_error', requestID: expect.stringMatching(/^req-/) });
  });

  it('a stream that is aborted ends there and upstream', async () => {
    playUnfinished(rig, spoken);
    const stream = await clientOf().chat.completions.create({ model: spoken.pin, messages, stream: true });
    let text = '';
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (text === 'One two') stream.controller.abort();
    }
    expect(text).toBe('One two');
    await expectAborted(rig);
  });
});

describe.each(budgeted)('the official client and thoughts that $provider wants back', (spoken) => {
  const body = { model: spoken.pin, reasoning_effort: 'high' as const };
  const tools = toolSchemas.map((tool) => ({ type: 'function' as const, function: tool }));

  it.each([false, true])('they go back with a message that is sent back as it came, streamed: %s', async (streamed) => {
    enqueueSteps(rig, spoken, reasonedCall, streamed);
    const { chat } = clientOf();
    const ask = async (all: OpenAI.ChatCompletionMessageParam[]) =>
      streamed
        ? chat.completions.stream({ ...body, tools, messages: all }).finalMessage()
        : (await chat.completions.create({ ...body, tools, messages: all })).choices[0]!.message;
    const called = await ask(messages);
    const content = JSON.stringify(reasonedCall.calls[0]!.result);
    const result = { role: 'tool' as const, tool_call_id: called.tool_calls![0]!.id, content };
    expect((await ask([...messages, called, result])).content).toBe(answer);
    expect(thinkingHeard(rig)).toEqual([
      { budget: true, thoughts: [] },
      { budget: true, thoughts: ['Hm, a "trip"\n…'] },
    ]);
    await expectBoth(rig, spoken, reasonedCall, streamed);
  });

  it.each([false, true])('runTools loses them, and goes on without thinking, streamed: %s', async (streamed) => {
    enqueueSteps(rig, spoken, reasonedCall, streamed);
    expect((await runTools(spoken, reasonedCall, streamed, body)).text).toBe(answer);
    expect(thinkingHeard(rig)).toEqual([
      { budget: true, thoughts: [] },
      { budget: false, thoughts: [] },
    ]);
    await expectBoth(rig, spoken, reasonedCall, streamed);
  });
});

describe('the official client and calls that Gemini gives no ids', () => {
  it.each([false, true])('their results fit, and the lost signature is made good, streamed: %s', async (streamed) => {
    enqueueSteps(rig, gemini3, parallelCalls, streamed);
    expect((await runTools(gemini3, parallelCalls, streamed)).text).toBe(answer);
    expectFittingResults(rig);
  });
});
