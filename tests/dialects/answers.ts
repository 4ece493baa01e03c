/** The answer that a client must get for an upstream's answer, whole or streamed, the same in every dialect. */
import { expect } from 'vitest';
import type { Json, Reply, StreamReply } from '../support/client.js';
import type { Said } from './dialect-fixture.js';

export interface Got {
  content: string | null;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  finish: string;
}

export const joined = (pieces: readonly string[] = []): string => pieces.join('');

/** A finished tool call without arguments has an empty object for them; the last one of an answer that was cut off is not finished. */
export function expectedOf({ text, reasoning, toolCalls = [], finish }: Said): Got {
  const unfinished = finish === 'length' ? toolCalls.length - 1 : -1;
  return {
    content: toolCalls.length > 0 && joined(text) === '' ? null : joined(text),
    reasoning: joined(reasoning),
    toolCalls: toolCalls.map(({ id, name, arguments: pieces }, at) => ({
      id,
      name,
      arguments: joined(pieces) || (at === unfinished ? '' : '{}'),
    })),
    finish,
  };
}

export function expectedUsage({ usage }: Said, countsReasoning: boolean): Json {
  const { prompt, completion, cached, reasoning } = usage;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 && { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning > 0 && countsReasoning && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}

interface ToolCall {
  index?: number;
  id?: string;
  type?: string;
  function: { name?: string; arguments: string };
}

interface Message {
  role: string;
  content: string | null;
  refusal: null;
  reasoning_content?: string;
  tool_calls?: ToolCall[];
}

/** Also checks that the completion has the members that OpenAI's clients require. */
export function wholeAnswer(reply: Reply): Got {
  expect(reply.status, reply.text).toBe(200);
  const { object, choices } = reply.json as { object: string; choices: { index: number; message: Message }[] };
  expect(object).toBe('chat.completion');
  expect(choices).toHaveLength(1);
  const { message, index, finish_reason } = choices[0] as (typeof choices)[0] & { finish_reason: string };
  expect([index, message.role, message.refusal]).toEqual([0, 'assistant', null]);
  return {
    content: message.content,
    reasoning: message.reasoning_content ?? '',
    toolCalls: (message.tool_calls ?? []).map(({ id, type, function: called }) => {
      expect(type).toBe('function');
      return { id: id!, name: called.name!, arguments: called.arguments };
    }),
    finish: finish_reason,
  };
}

export interface Chunk {
  id: string;
  object: string;
  choices: { index: number; delta: Partial<Message>; finish_reason: string | null }[];
  usage?: Json | null;
  router_metadata?: { stream_end?: string };
}

export function chunksOf(reply: StreamReply): Chunk[] {
  expect([reply.done, reply.complete, reply.remainder]).toEqual([true, true, '']);
  return reply.frames.slice(0, -1).map(({ json }) => json as Chunk);
}

/** Puts a stream together as OpenAI's clients do, and checks every chunk's shape along the way. */
export function gather(chunks: readonly Chunk[]): Got {
  const got: Got = { content: null, reasoning: '', toolCalls: [], finish: '' };
  let role: string | undefined;
  for (const { object, id, choices } of chunks) {
    expect([object, id]).toEqual(['chat.completion.chunk', chunks[0]!.id]);
    for (const { index, delta, finish_reason } of choices) {
      expect([index, typeof delta]).toEqual([0, 'object']);
      role ??= delta.role;
      if (typeof delta.content === 'string') got.content = (got.content ?? '') + delta.content;
      got.reasoning += delta.reasoning_content ?? '';
      for (const call of delta.tool_calls ?? []) addCall(got, call);
      if (finish_reason) got.finish = finish_reason;
    }
  }
  expect(role).toBe('assistant');
  if (got.content === '' && got.toolCalls.length > 0) got.content = null;
  return got;
}

/** The first delta of a call has its id and name, and the index counts from 0 without a gap. */
function addCall({ toolCalls }: Got, { index, id, type, function: called }: ToolCall): void {
  if (index === toolCalls.length) {
    expect([type, typeof id, typeof called.name]).toEqual(['function', 'string', 'string']);
    toolCalls.push({ id: id!, name: called.name!, arguments: called.arguments });
    return;
  }
  expect(index).toBe(toolCalls.length - 1);
  toolCalls.at(-1)!.arguments += called.arguments;
}
