/** Vercel's AI SDK against every dialect: a tool call in two steps, structured output, errors and a broken-off stream. */
import { createOpenAICompatible, type OpenAICompatibleProviderSettings } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateObject,
  generateText,
  jsonSchema,
  type LanguageModelUsage,
  RetryError,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai';
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
const modelOf = ({ pin }: Spoken, more: Partial<OpenAICompatibleProviderSettings> = {}) => {
  const settings = { name: 'lodestone', baseURL: rig.baseURL, apiKey: rig.account.key, includeUsage: true, ...more };
  return createOpenAICompatible(settings)(pin);
};
const asked = { system: instructions, prompt: question, maxRetries: 0 };
const extras = {
  seed: 7,
  providerOptions: {
    lodestone: {
      ...{ reasoningEffort: 'low', textVerbosity: 'low', user: 'caller-7' },
      ...{ parallel_tool_calls: true, fallback: { models: [] } },
    },
  },
};

/** The SDK's own loop: it calls, runs the tools, and calls again. */
async function runTools(spoken: Spoken, steps: TwoSteps, streamed: boolean, more: object = {}) {
  const { run, expectRun } = toolRuns(steps);
  const tools = Object.fromEntries(
    toolSchemas.map(({ name, description, parameters }) => [
      name,
      tool({ description, inputSchema: jsonSchema(parameters), execute: run(name) }),
    ]),
  );
  const settings = { ...asked, model: modelOf(spoken), tools, stopWhen: stepCountIs(3), ...more };
  const result = streamed ? await streamedResult(settings) : await generateText(settings);
  expectRun();
  return result;
}

async function streamedResult(settings: Parameters<typeof streamText>[0]) {
  const stream = streamText(settings);
  let text = '';
  for await (const part of stream.fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'start-step') text = '';
    if (part.type === 'text-delta') text += part.text;
  }
  return { text, usage: await stream.usage, totalUsage: await stream.totalUsage, steps: await stream.steps };
}

const usageOf = (figures: (typeof usages)[number]): Partial<LanguageModelUsage> => ({
  inputTokens: figures.prompt,
  outputTokens: figures.completion,
  totalTokens: figures.prompt + figures.completion,
});

describe.each(dialects)('the AI SDK and $provider', (spoken) => {
  describe.each(conversations)('$name', (steps) => {
    it.each([false, true])('in two steps, streamed: %s', async (streamed) => {
      enqueueSteps(rig, spoken, steps, streamed);
      const result = await runTools(spoken, steps, streamed);
      expect(result.text).toBe(answer);
      const [before, after] = usages;
      expect(result.steps.map(({ text, finishReason }) => [text, finishReason])).toEqual([
        [steps.text.join(''), 'tool-calls'],
        [answer, 'stop'],
      ]);
      expect(result.steps[0]!.usage).toMatchObject(usageOf(before));
      expect(result.usage).toMatchObject({ ...usageOf(after), cachedInputTokens: after.cached });
      expect(result.totalUsage).toMatchObject({ inputTokens: before.prompt + after.prompt });
      await expectBoth(rig, spoken, steps, streamed);
    });
  });

  it.each([false, true])(
    'fields that not every dialect has a word for break nothing, streamed: %s',
    async (streamed) => {
      enqueueSteps(rig, spoken, reasonedCall, streamed);
      const result = await runTools(spoken, reasonedCall, streamed, extras);
      expect([result.steps[0]!.reasoningText, result.text]).toEqual([reasonedCall.reasoning!.join(''), answer]);
      await expectBoth(rig, spoken, reasonedCall, streamed);
    },
  );

  it('streams without usage where it does not ask for it', async () => {
    playAnswer(rig, spoken, { city: 'Köln' }, true);
    const stream = streamText({ ...asked, model: modelOf(spoken, { includeUsage: false }) });
    expect(await stream.text).toBe('{"city":"Köln"}');
    expect((await stream.usage).inputTokens).toBeUndefined();
  });

  it('generateObject and streamObject give what the schema says', async () => {
    const schema = z.object({ city: z.string(), stops: z.array(z.object({ name: z.string() })) });
    const said = { city: 'Köln 😀', stops: [{ name: '"Dom"' }] };
    const model = modelOf(spoken, { supportsStructuredOutputs: true });
    playAnswer(rig, spoken, said, false);
    expect((await generateObject({ ...asked, model, schema })).object).toEqual(said);
    playAnswer(rig, spoken, said, true);
    let last: unknown;
    for await (const part of streamObject({ ...asked, model, schema }).partialObjectStream) last = part;
    expect(last).toEqual(said);
    expectSchema(rig, spoken, ['city', 'stops']);
  });

  it('JSON of any kind is asked for or refused, as the dialect can', async () => {
    playAnswer(rig, spoken, { city: 'Köln' }, false);
    const refused = spoken.fixture.refuses.includes('json_object');
    const schema = z.object({ city: z.string() });
    const result = await generateObject({ ...asked, model: modelOf(spoken), schema }).catch((error: unknown) => error);
    if (!refused) return expect(result).toMatchObject({ object: { city: 'Köln' } });
    expect(APICallError.isInstance(result)).toBe(true);
    expect(result).toMatchObject({ statusCode: 400, data: { error: { param: 'response_format' } } });
    expect(rig.upstream.calls).toEqual([]);
  });

  it.each([false, true])('failures are its errors, with our status and code, streamed: %s', async (streamed) => {
    const settings = () => ({ ...asked, model: modelOf(spoken), onError: () => {} });
    const failure = () =>
      (streamed ? streamedResult(settings()) : generateText(settings())).catch((error: unknown) => error);
    failWith(rig, spoken, 'rejected');
    const rejected = await failure();
    expect(APICallError.isInstance(rejected)).toBe(true);
    const rejection = { statusCode: 400, isRetryable: false };
    expect(rejected).toMatchObject({ ...rejection, data: { error: { code: 'invalid_request_error' } } });
    failWith(rig, spoken, 'capacity');
    const failed = await failure();
    expect(APICallError.isInstance(failed)).toBe(true);
    expect(failed).toMatchObject({ statusCode: 503, isRetryable: true, data: { error: { code: 'provider_error' } } });
  });

  it('a stream that is aborted ends there and upstream', async () => {
    playUnfinished(rig, spoken);
    const controller = new AbortController();
    const stream = streamText({ ...asked, model: modelOf(spoken), abortSignal: controller.signal });
    const types: string[] = [];
    let text = '';
    for await (const part of stream.fullStream) {
      types.push(part.type);
      if (part.type === 'text-delta') text += part.text;
      if (text === 'One two') controller.abort();
    }
    expect([text, types.at(-1)]).toEqual(['One two', 'abort']);
    await expectAborted(rig);
  });
});

describe('retries of the AI SDK', () => {
  it('are requests of their own, and end in its RetryError with our code in the last', async () => {
    const [spoken] = dialects as [Spoken];
    failWith(rig, spoken, 'capacity');
    const settings = { ...asked, maxRetries: 1, model: modelOf(spoken) };
    const error = await generateText(settings).catch((error: unknown) => error);
    expect(RetryError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ lastError: { statusCode: 503, data: { error: { code: 'provider_error' } } } });
    expect(rig.upstream.calls).toHaveLength(2);
  });
});

describe.each(budgeted)('the AI SDK and thoughts that $provider wants back', (spoken) => {
  it.each([false, true])('they are lost, and it goes on without thinking, streamed: %s', async (streamed) => {
    enqueueSteps(rig, spoken, reasonedCall, streamed);
    const more = { providerOptions: { lodestone: { reasoningEffort: 'high' } } };
    expect((await runTools(spoken, reasonedCall, streamed, more)).text).toBe(answer);
    expect(thinkingHeard(rig)).toEqual([
      { budget: true, thoughts: [] },
      { budget: false, thoughts: [] },
    ]);
    await expectBoth(rig, spoken, reasonedCall, streamed);
  });
});

describe('the AI SDK and calls that Gemini gives no ids', () => {
  it.each([false, true])('their results fit, and the lost signature is made good, streamed: %s', async (streamed) => {
    enqueueSteps(rig, gemini3, parallelCalls, streamed);
    expect((await runTools(gemini3, parallelCalls, streamed)).text).toBe(answer);
    expectFittingResults(rig);
  });
});
