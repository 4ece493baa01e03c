/**
 * Writes the sandbox's answers as OpenAI completions, chunks and errors. They have no `usage`, so the gateway counts the tokens
 * itself, as it does for providers that report none.
 */
import type { Answer } from './answer.js';

/** The members that every frame of an answer shares. */
export interface CompletionHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface DialectError {
  readonly message: string;
  readonly type: string;
  readonly param?: string;
  readonly code: string | null;
}

export function completionJson(head: CompletionHead, answer: Answer, choices: number): Buffer {
  const { id, created, model } = head;
  return json({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: eachChoice(choices, (index) => ({
      index,
      message: messageOf(answer, index),
      logprobs: null,
      finish_reason: finishReasonOf(answer),
    })),
  });
}

/** The role of each choice, then the content, one piece for each choice at a time. */
export function contentFrames(head: CompletionHead, answer: Answer, choices: number): Buffer[] {
  const role = { role: 'assistant', content: answer.kind === 'text' ? '' : null };
  const content =
    answer.kind === 'text' ? answer.pieces.map((content) => () => ({ content })) : toolCallDeltas(answer.name);
  return [() => role, ...content].flatMap((delta) =>
    eachChoice(choices, (index) => frame(head, index, delta(index), null)),
  );
}

/** The finish reason of each choice, then `[DONE]`. */
export function closingFrames(head: CompletionHead, answer: Answer, choices: number): Buffer[] {
  const finishes = eachChoice(choices, (index) => frame(head, index, {}, finishReasonOf(answer)));
  return [...finishes, Buffer.from('data: [DONE]\n\n')];
}

/** The thoughts before an answer, as the first frames of its first choice. */
export function reasoningFrames(head: CompletionHead, thought: string): Buffer[] {
  const words = thought.match(/\S+\s*/g) ?? [];
  return words.map((reasoning_content) => frame(head, 0, { role: 'assistant', reasoning_content }, null));
}

/** A whole completion with thoughts in each of its choices. */
export function addReasoning(body: Buffer, thought: string): Buffer {
  const completion = JSON.parse(body.toString('utf8')) as { choices: { message: Record<string, unknown> }[] };
  for (const { message } of completion.choices) message.reasoning_content = thought;
  return json(completion);
}

export function usageFrame({ id, created, model }: CompletionHead, usage: object): Buffer {
  const chunk = { id, object: 'chat.completion.chunk', created, model, choices: [], usage };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

/** A whole completion with a usage. */
export function addUsage(body: Buffer, usage: object): Buffer {
  return json({ ...(JSON.parse(body.toString('utf8')) as object), usage });
}

export function errorJson({ message, type, param, code }: DialectError): Buffer {
  return json({ error: { message, type, param: param ?? null, code } });
}

function eachChoice<T>(choices: number, make: (index: number) => T): T[] {
  return Array.from({ length: choices }, (_, index) => make(index));
}

function finishReasonOf(answer: Answer): string {
  return answer.kind === 'text' ? answer.finishReason : 'tool_calls';
}

function messageOf(answer: Answer, index: number): object {
  if (answer.kind === 'text') return { role: 'assistant', content: answer.pieces.join(''), refusal: null };
  const call = { id: toolCallId(index), type: 'function', function: { name: answer.name, arguments: '{}' } };
  return { role: 'assistant', content: null, refusal: null, tool_calls: [call] };
}

function toolCallDeltas(name: string): ((index: number) => object)[] {
  return [
    (index) => ({
      tool_calls: [{ index: 0, id: toolCallId(index), type: 'function', function: { name, arguments: '' } }],
    }),
    () => ({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
  ];
}

const toolCallId = (index: number): string => `call_sandbox_${index}`;

function frame(
  { id, created, model }: CompletionHead,
  index: number,
  delta: object,
  finishReason: string | null,
): Buffer {
  const choices = [{ index, delta, logprobs: null, finish_reason: finishReason }];
  const chunk = { id, object: 'chat.completion.chunk', created, model, choices };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
