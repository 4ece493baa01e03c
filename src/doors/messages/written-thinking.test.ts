/** Reasoning in a message that is made of a completion or of its chunks. */
import { describe, expect, it } from 'vitest';
import { asLatin1 } from '../../base/latin1.js';
import { type ChunkIdentity, parseChunk } from '../../wire/chunk.js';
import type { WholeAnswer } from '../door.js';
import { writeAnswer } from './write-answer.js';
import { MessageStreamWriter } from './write-stream.js';

const as: ChunkIdentity = { id: 'gen-1', created: 7, model: 'a/b/c/global', includeUsage: true };
const usage = { promptTokens: 5, completionTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
const cost = { pico: 3n, details: {}, lines: [], tier: null };

function whole(message: object): object[] {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'x', ...message }, finish_reason: 'stop' }];
  const parts = { members: JSON.stringify({ choices }).slice(1, -1), usage: null, encoding: 'latin1' };
  const answer = { ...as, parts, usage, cost, metadata: '{}' } as unknown as WholeAnswer;
  return JSON.parse(writeAnswer(answer)).content;
}

/** The blocks that a client puts together. */
function streamed(...deltas: object[]): object[] {
  const writer = new MessageStreamWriter();
  let text = '';
  for (const delta of [...deltas, { content: 'x' }]) {
    text += writer.writeFrame(parseChunk(asLatin1(JSON.stringify({ choices: [{ index: 0, delta }] })))!, as);
  }
  text += writer.writeEnd(
    {
      end: 'complete',
      finishFrames: [],
      usage: { given: null, usage, cost },
      metadata: '{}',
      firstMetadata: undefined,
    },
    as,
  );
  const blocks: Record<string, unknown>[] = [];
  for (const line of text.split('\n')) {
    const event = line.startsWith('data: ') ? JSON.parse(line.slice('data: '.length)) : {};
    if (event.type === 'content_block_start') blocks[event.index] = event.content_block;
    if (event.type !== 'content_block_delta') continue;
    const { type: _, ...added } = event.delta;
    for (const [name, more] of Object.entries(added))
      blocks[event.index]![name] = `${blocks[event.index]![name]}${more}`;
  }
  return blocks;
}

const said = { type: 'text', text: 'x' };
const signed = (text: string) => ({
  type: 'reasoning.text',
  text,
  signature: 'c2ln',
  format: 'anthropic-claude-v1',
  index: 0,
});
const summary = { type: 'reasoning.summary', summary: 'Think.', format: 'openai-responses-v1', index: 0 };
const encrypted = { type: 'reasoning.encrypted', data: 'b3Bh', format: 'openai-responses-v1', index: 0 };

describe('reasoning', () => {
  it('keeps what can be read beside what only the provider can read', () => {
    const expected = [
      { type: 'thinking', thinking: 'Think.', signature: '' },
      { type: 'redacted_thinking', data: 'b3Bh' },
      said,
    ];
    expect(whole({ reasoning: 'Think.', reasoning_details: [summary, encrypted] })).toEqual(expected);
    expect(whole({ reasoning: 'Think.', reasoning_details: [encrypted] })).toEqual(expected);
    expect(streamed({ reasoning: 'Think.', reasoning_details: [summary] }, { reasoning_details: [encrypted] })).toEqual(
      expected,
    );
  });

  it('keeps the signature of thinking whose text is not shown', () => {
    const expected = [{ type: 'thinking', thinking: '', signature: 'c2ln' }, said];
    expect(whole({ reasoning_details: [signed('')] })).toEqual(expected);
    expect(streamed({ reasoning_details: [signed('')] })).toEqual(expected);
  });

  it('is signed where it was streamed, and not said twice', () => {
    const expected = [{ type: 'thinking', thinking: 'Think.', signature: 'c2ln' }, said];
    expect(whole({ reasoning: 'Think.', reasoning_details: [signed('Think.')] })).toEqual(expected);
    expect(streamed({ reasoning: 'Think.' }, { reasoning_details: [signed('Think.')] })).toEqual(expected);
  });
});
