/** Every accent of OpenAI's dialect is understood: the official client finds what the provider meant, and the bill is right. */
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { generation, llama, useGateway } from '../api/harness.js';
import { json, sse } from '../support/scripted-upstream.js';
import { SeededRandom as Seeded, type SeededRandom } from '../support/seeded-random.js';
import { type Accent, type Answer, type Meaning, plainAnswer } from './accents/accent.js';
import { callAccents } from './accents/calls.js';
import { envelopeAccents, messageAccents } from './accents/messages.js';
import { usageAccents } from './accents/usage.js';

const accents: readonly Accent[] = [...messageAccents, ...callAccents, ...usageAccents, ...envelopeAccents];
const bench = useGateway();
let client: OpenAI;

beforeAll(async () => {
  const { key } = await bench.gateway.createAccount({ credit: '1000' });
  client = new OpenAI({ baseURL: `${bench.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
});

const meaningWith = (more: Partial<Meaning> = {}): Meaning => ({
  text: ['Grüße', ' 字', '\n"😀"'],
  reasoning: ['Let me', ' think é.'],
  refusal: '',
  calls: [],
  finish: 'stop',
  usage: { prompt: 50, completion: 30, cached: 20, reasoning: 12 },
  ...more,
});

const withCalls = meaningWith({
  finish: 'tool_calls',
  calls: [
    { id: 'call_a', name: 'weather', arguments: ['{"city":', '"Köln"}'] },
    { id: 'call_b', name: 'clock', arguments: [] },
    { id: 'call_c', name: 'weather', arguments: ['{"city":"Rom"}'] },
  ],
});

/** What a client found, in the terms of a meaning. */
interface Found {
  text: string;
  reasoning: [string, string];
  refusal: string;
  calls: { id: string; name: string; arguments: unknown }[];
  finish: string;
  usage: Meaning['usage'];
  cost: number;
}

type Message = OpenAI.ChatCompletionMessage & { reasoning?: string; reasoning_content?: string };

async function ask(stream: boolean): Promise<Found & { id: string }> {
  const request = { model: llama, messages: [{ role: 'user' as const, content: 'Say hello.' }] };
  if (!stream) return found(await client.chat.completions.create(request));
  const reasoning: [string, string] = ['', ''];
  const runner = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } });
  runner.on('chunk', ({ choices }) => {
    for (const { delta } of choices) {
      const { reasoning_content, reasoning: other } = delta as Message;
      reasoning[0] += reasoning_content ?? '';
      reasoning[1] += other ?? '';
      expect(['string', 'undefined'], 'the type of content').toContain(typeof (delta.content ?? undefined));
    }
  });
  return { ...found(await runner.finalChatCompletion()), reasoning };
}

function found(completion: OpenAI.ChatCompletion): Found & { id: string } {
  expect(completion).toMatchObject({ object: 'chat.completion', model: llama, id: expect.stringMatching(/^gen-/) });
  expect(Number.isInteger(completion.created)).toBe(true);
  const [choice] = completion.choices;
  expect(choice).toMatchObject({ index: 0, message: { role: 'assistant' } });
  const message = choice!.message as Message;
  const figures = completion.usage as OpenAI.CompletionUsage & { cost: number };
  return {
    id: completion.id,
    text: message.content ?? '',
    reasoning: [message.reasoning_content ?? '', message.reasoning ?? ''],
    refusal: message.refusal ?? '',
    calls: (message.tool_calls ?? []).map((call) => {
      expect(call).toMatchObject({ type: 'function', id: expect.stringMatching(/./) });
      const { name, arguments: text } = (call as OpenAI.ChatCompletionMessageFunctionToolCall).function;
      return { id: call.id, name, arguments: JSON.parse(text) };
    }),
    finish: choice!.finish_reason,
    usage: {
      prompt: figures.prompt_tokens,
      completion: figures.completion_tokens,
      cached: figures.prompt_tokens_details?.cached_tokens ?? 0,
      reasoning: figures.completion_tokens_details?.reasoning_tokens ?? 0,
    },
    cost: figures.cost,
  };
}

/** The meaning as a client must find it; `usage` is what is billed. */
function expected({ text, reasoning, refusal, calls, finish, usage }: Meaning, spoken: readonly Accent[]): Found {
  const thought = reasoning.join('');
  const ids = !spoken.some(({ losesIds }) => losesIds);
  const { prompt, completion, cached } = usage;
  return {
    text: text.join(''),
    reasoning: [thought, thought],
    refusal,
    calls: calls.map(({ id, name, arguments: pieces }) => ({
      id: ids ? id : expect.stringMatching(/^call_/),
      name,
      arguments: JSON.parse(pieces.join('') || '{}'),
    })),
    finish,
    usage,
    cost: ((prompt - cached) * 600_000 + cached * 300_000 + completion * 800_000) / 1e12,
  };
}

async function expectUnderstood(meaning: Meaning, spoken: readonly Accent[], stream: boolean): Promise<void> {
  const answer: Answer = plainAnswer(meaning);
  for (const accent of spoken) accent.speak(answer, meaning);
  bench.upstream.reply(stream ? sse(answer.frames) : json(answer.whole));
  const { id, ...got } = await ask(stream);
  expect(got).toEqual(expected(meaning, spoken));
  // The record takes its way through the store, which is slow, and depends on these two groups alone.
  if (spoken.length !== 1 || !['finish', 'figures'].includes(spoken[0]!.group)) return;
  expect(await generation(bench.gateway, id, client.apiKey as string)).toMatchObject({
    finish_reason: meaning.finish,
    prompt_tokens: meaning.usage.prompt,
    completion_tokens: meaning.usage.completion,
    cached_tokens: meaning.usage.cached,
    usage_source: 'provider',
    ...(stream && { stream_end: 'complete' }),
  });
}

/** The meanings that an accent shows itself in: one that has everything, and for reasons to finish some others. */
function meaningsFor({ group, fits }: Accent): Meaning[] {
  const others = [meaningWith(), meaningWith({ finish: 'length' }), meaningWith({ finish: 'content_filter' })];
  const all = group === 'finish' ? [withCalls, ...others] : [withCalls];
  return all.filter((meaning) => fits?.(meaning) ?? true);
}

describe.each([
  ['whole', false],
  ['streamed', true],
] as const)('an answer of OpenAI\u2019s dialect, %s', (_, stream) => {
  it('is understood without an accent', async () => {
    for (const meaning of [meaningWith(), withCalls, meaningWith({ text: [], refusal: 'No.' })]) {
      await expectUnderstood(meaning, [], stream);
    }
  });

  it.each(accents.map((accent) => [accent.name, accent] as const))('is understood with %s', async (_name, accent) => {
    const meanings = meaningsFor(accent);
    expect(meanings).not.toHaveLength(0);
    for (const meaning of meanings) await expectUnderstood(meaning, [accent], stream);
  });

  it('is understood with any mixture of accents', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new Seeded(seed);
      const meaning = randomMeaning(random);
      const spoken = mixture(random, meaning);
      const names = spoken.map(({ name }) => name).join('; ');
      await expectUnderstood(meaning, spoken, stream).catch((error: Error) => {
        error.message = `seed ${seed} (${names}): ${error.message}`;
        throw error;
      });
    }
  });
});

function randomMeaning(random: SeededRandom): Meaning {
  const pieces = ['a', ' word', 'é', '字', '😀', '"', '\\', '\n', '\u2028', '{', '[DONE]', 'finish_reason'];
  const texts = (max: number) =>
    Array.from({ length: random.below(max + 1) }, () => `${random.pick(pieces)}${random.textOf(pieces, 4)}`);
  const calls = random.chance(0.4)
    ? Array.from({ length: 1 + random.below(3) }, (_, at) => ({
        id: `call_${at}x${random.below(1e6)}`,
        name: random.pick(['weather', 'clock', 'search']),
        arguments: random.pick([[], ['{}'], ['{"a":', '1}'], ['{"text":"', 'é"', ',"list":[1,{}]', '}']]),
      }))
    : [];
  const reasoningTokens = random.below(50);
  const prompt = 2 + random.below(5_000);
  const text = texts(5);
  return {
    // A stream without any content is no answer.
    text: text.length === 0 && calls.length === 0 ? ['x'] : text,
    reasoning: random.chance(0.5) ? texts(4) : [],
    refusal: '',
    calls,
    finish: calls.length > 0 ? 'tool_calls' : random.pick(['stop', 'stop', 'length', 'content_filter'] as const),
    usage: {
      prompt,
      completion: reasoningTokens + 1 + random.below(500),
      cached: random.chance(0.5) ? 0 : random.below(prompt),
      reasoning: reasoningTokens,
    },
  };
}

/** At most one accent of each group: two that rewrite the same members would not be two accents. */
function mixture(random: SeededRandom, meaning: Meaning): Accent[] {
  const groups = [...new Set(accents.map(({ group }) => group))];
  const chosen = groups.flatMap((group) => {
    const fitting = accents.filter((accent) => accent.group === group && (accent.fits?.(meaning) ?? true));
    return fitting.length > 0 && random.chance(0.6) ? [random.pick(fitting)] : [];
  });
  return chosen;
}
