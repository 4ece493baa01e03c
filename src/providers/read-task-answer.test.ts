/** Honest answers that are large pass every bound, and answers that hold too much say so. */
import { describe, expect, it } from 'vitest';
import { readTaskAnswer, type TaskQuestion } from './read-task-answer.js';
import { readAnswer } from './translation.js';

const terms = { contextWindow: null };
const usage = '"usage":{"prompt_tokens":9,"completion_tokens":3}';
const chat = (more: string) =>
  Buffer.from(
    `{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"a"},"finish_reason":"stop"${more}}],${usage}}`,
  );

describe('read', () => {
  it('log probabilities of 20 alternatives, as many as an answer has room for', () => {
    const top = Array.from({ length: 20 }, () => '{"token":" word","logprob":-1.25,"bytes":[32,119]}').join(',');
    const token = `{"token":" word","logprob":-0.5,"bytes":[32,119],"top_logprobs":[${top}]}`;
    const body = chat(`,"logprobs":{"content":[${Array.from({ length: 30_000 }, () => token).join(',')}]}`);
    expect(body.length).toBeGreaterThan(30_000_000);
    expect(readAnswer(body, 'openai', terms).kind).toBe('completion');
  });

  it('2,048 vectors of 3,072 numbers', () => {
    const numbers = `"embedding":[${Array.from({ length: 3_072 }, () => '0').join(',')}]`;
    const vectors = Array.from({ length: 2_048 }, (_, index) => `{"index":${index},${numbers}}`);
    const body = Buffer.from(`{"data":[${vectors.join(',')}]}`);
    const question = { dialect: 'openai', kind: 'embedding', count: 2_048, dimensions: null, format: 'float' } as const;
    expect(readTaskAnswer(body, question).kind).toBe('answer');
  });
});

it('reasoning of megabytes is not written a second time', () => {
  const body = chat('')
    .toString()
    .replace('"content":"a"', `"content":"a","reasoning_content":"${'x'.repeat(5_000_000)}"`);
  const reading = readAnswer(Buffer.from(body), 'openai', terms);
  expect(reading.kind === 'completion' && reading.parts.members.length).toBeLessThan(5_001_000);
});

describe('malformed by a bound', () => {
  const rerank: TaskQuestion = { dialect: 'openai', kind: 'rerank', count: 1, dimensions: null, format: 'float' };
  const many = `[${'1,'.repeat(1_000_001)}1]`;
  it.each([
    ['a chat that has to be parsed', () => readAnswer(chat(`,"other":${many}`), 'openai', terms), 1_000_000],
    [
      'an answer in another dialect',
      () => readAnswer(Buffer.from(`{"candidates":${many}}`), 'gemini', terms),
      1_000_000,
    ],
    [
      'an answer that is passed on',
      () => readAnswer(Buffer.from(`{"content":${many}}`), 'native:messages', terms),
      400_000,
    ],
    ['one document', () => readTaskAnswer(Buffer.from(`{"results":${many}}`), rerank), 10_064],
  ])('%s', (_, read, values) => {
    expect(read()).toEqual({ kind: 'malformed', reason: `its answer has over ${values} values`, excess: true });
  });
});
