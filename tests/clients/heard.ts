/** Checks that an upstream received exactly the given conversation, in the fields of its own dialect and no others. */
import { expect } from 'vitest';
import type { Json } from '../support/client.js';
import { instructions, question, type TwoSteps, writtenResult } from './conversations.js';

interface Heard {
  /** Members that the dialect's requests have; anything else would be refused there. */
  members: string;
  instructions(body: Json): unknown;
  turns(body: Json): unknown;
  /** What `turns` must be. */
  expected(steps: TwoSteps): unknown[];
  toolNames(body: Json): string[];
}

const textOf = ({ text }: TwoSteps): string => text.join('');

/** A first step has no more than the question. */
const turns = (asked: unknown, assistant: readonly unknown[], results: readonly unknown[]): unknown[] =>
  assistant.length === 0 ? [asked] : [asked, assistant, results];

type OpenAiMessages = { role: string; content: unknown }[];

const openAi: Heard = {
  members:
    'model messages stream stream_options tools tool_choice parallel_tool_calls reasoning_effort response_format ' +
    'temperature top_p stop seed user verbosity max_tokens max_completion_tokens frequency_penalty presence_penalty ' +
    'service_tier prompt_cache_key',
  instructions: ({ messages }) => (messages as OpenAiMessages)[0]!.content,
  turns: ({ messages }) => (messages as OpenAiMessages).slice(1),
  expected: (steps) => [
    { role: 'user', content: question },
    ...(steps.calls.length > 0 ? [openAiAssistant(steps)] : []),
    ...steps.calls.map((call) => {
      const message = { role: 'tool', tool_call_id: call.id, content: writtenResult(call) };
      return expect.objectContaining(message);
    }),
  ],
  toolNames: ({ tools }) => (tools as { function: { name: string } }[]).map(({ function: { name } }) => name),
};

/** Without text, clients leave the content out, or write null or an empty one; and OpenAI's own keeps what it does not know. */
function openAiAssistant(steps: TwoSteps): unknown {
  const text = textOf(steps);
  return expect.objectContaining({
    role: 'assistant',
    ...(text !== '' && { content: text }),
    tool_calls: steps.calls.map(({ id, name, input }) => ({
      ...{ id, type: 'function' },
      function: { name, arguments: JSON.stringify(input) },
    })),
  });
}

const anthropicText = (text: string) => ({ type: 'text', text });

const anthropic: Heard = {
  members:
    'model messages max_tokens stream system tools tool_choice thinking output_config metadata service_tier temperature ' +
    'top_p stop_sequences',
  instructions: ({ system }) => system,
  turns: ({ messages }) => roles(messages, 'content', ['user', 'assistant', 'user']),
  expected: (steps) =>
    turns(
      [anthropicText(question)],
      [
        ...(textOf(steps) === '' ? [] : [anthropicText(textOf(steps))]),
        ...steps.calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
      ],
      steps.calls.map((call) => ({ type: 'tool_result', tool_use_id: call.id, content: writtenResult(call) })),
    ),
  toolNames: ({ tools }) => (tools as { name: string }[]).map(({ name }) => name),
};

const gemini: Heard = {
  members: 'contents systemInstruction tools toolConfig generationConfig',
  instructions: ({ systemInstruction }) => (systemInstruction as { parts: { text: string }[] }).parts[0]!.text,
  turns: ({ contents }) => roles(contents, 'parts', ['user', 'model', 'user']),
  expected: (steps) =>
    turns(
      [{ text: question }],
      [
        ...(textOf(steps) === '' ? [] : [{ text: textOf(steps) }]),
        ...steps.calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
      ],
      // Results are objects here, and text becomes one.
      steps.calls.map(({ id, name, result }) => ({
        functionResponse: { id, name, response: typeof result === 'string' ? { result } : result },
      })),
    ),
  toolNames: ({ tools }) =>
    (tools as { functionDeclarations: { name: string }[] }[])[0]!.functionDeclarations.map(({ name }) => name),
};

const bedrock: Heard = {
  members: 'messages system inferenceConfig toolConfig additionalModelRequestFields outputConfig serviceTier',
  instructions: ({ system }) => (system as { text: string }[])[0]!.text,
  turns: ({ messages }) => roles(messages, 'content', ['user', 'assistant', 'user']),
  expected: (steps) =>
    turns(
      [{ text: question }],
      [
        ...(textOf(steps) === '' ? [] : [{ text: textOf(steps) }]),
        ...steps.calls.map(({ id, name, input }) => ({ toolUse: { toolUseId: id, name, input } })),
      ],
      steps.calls.map((call) => ({ toolResult: { toolUseId: call.id, content: [{ text: writtenResult(call) }] } })),
    ),
  toolNames: ({ toolConfig }) =>
    (toolConfig as { tools: { toolSpec: { name: string } }[] }).tools.map(({ toolSpec: { name } }) => name),
};

const dialectsHeard: Record<string, Heard> = { openai: openAi, azure: openAi, anthropic, gemini, bedrock };

/** The contents of alternating turns, after a look at whose they are. */
function roles(turns: unknown, member: string, expected: string[]): unknown[] {
  const list = turns as Record<string, unknown>[];
  expect(list.map(({ role }) => role)).toEqual(expected.slice(0, list.length));
  return list.map((turn) => turn[member]);
}

export function expectHeard(dialect: string, body: Json, steps: TwoSteps): void {
  const heard = dialectsHeard[dialect]!;
  expectKnownMembers(dialect, body);
  expect(heard.instructions(body)).toEqual(instructions);
  expect(heard.toolNames(body)).toEqual(['plan_trip', 'get_time']);
  expect(withoutReasoning(heard.turns(body))).toEqual(heard.expected(steps));
}

/** OpenAI's fields that a dialect has no word for must not reach it. */
export function expectKnownMembers(dialect: string, body: Json): void {
  const known = dialectsHeard[dialect]!.members.split(' ');
  expect(Object.keys(body).filter((name) => !known.includes(name))).toEqual([]);
  // What Converse hands to the model as it is must be the model's own: Claude's, here.
  const handedOn = Object.keys(body.additionalModelRequestFields ?? {});
  expect(['thinking', 'output_config']).toEqual(expect.arrayContaining(handedOn));
}

/** Whether reasoning comes back depends on the client, and is looked at by itself. */
function withoutReasoning(turns: unknown): unknown {
  return (turns as unknown[]).map((turn) =>
    Array.isArray(turn) ? turn.filter((block: Json) => block.type !== 'thinking' && !block.reasoningContent) : turn,
  );
}
