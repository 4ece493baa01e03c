import { describe, expect, it } from 'vitest';
import type { PlaygroundRequest, Turn } from '../request.js';
import { chatDoor } from './chat.js';
import { embeddingsDoor } from './embeddings.js';
import { messagesDoor } from './messages.js';
import { rerankDoor } from './rerank.js';
import { responsesDoor } from './responses.js';

const picture = { name: 'dot.png', url: 'data:image/png;base64,AAAA' };
const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Ulm"}', result: 'Sunny' };
const turns: Turn[] = [
  { id: 1, role: 'user', content: 'What is this?', pictures: [picture] },
  { id: 2, role: 'assistant', content: '', toolCalls: [call] },
];
const request: PlaygroundRequest = {
  ...{ model: 'auto/a/b', system: 'Be brief', turns, stream: true, documents: ['one', 'two'] },
  parameters: { temperature: 0.5, maxTokens: 20, stop: ['END'] },
  tools: [{ name: 'get_weather', parameters: { type: 'object' } }],
  provider: { sort: 'price' },
};
const common = { model: 'auto/a/b', temperature: 0.5, provider: { sort: 'price' }, stream: true };

describe('a request with a picture, a tool and its result', () => {
  it('as chat completions', () => {
    expect(chatDoor.body(request)).toEqual({
      ...common,
      messages: [
        { role: 'system', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: picture.url } },
          ],
        },
        {
          role: 'assistant',
          content: '',
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: call.name, arguments: call.arguments } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Sunny' },
      ],
      max_tokens: 20,
      stop: ['END'],
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
    });
  });

  it('as messages', () => {
    expect(messagesDoor.body(request)).toEqual({
      ...common,
      system: 'Be brief',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          ],
        },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: call.name, input: { city: 'Ulm' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'Sunny' }] },
      ],
      max_tokens: 20,
      stop_sequences: ['END'],
      tools: [{ name: 'get_weather', input_schema: { type: 'object' } }],
    });
  });

  it('as responses', () => {
    expect(responsesDoor.body(request)).toEqual({
      ...common,
      instructions: 'Be brief',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: picture.url },
          ],
        },
        { type: 'function_call', call_id: 'call_1', name: call.name, arguments: call.arguments },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
      ],
      max_output_tokens: 20,
      tools: [{ type: 'function', name: 'get_weather', parameters: { type: 'object' } }],
    });
  });

  it('as texts to embed, and as a query with documents', () => {
    const lines = { ...request, turns: [{ id: 1, role: 'user' as const, content: 'one\n\ntwo' }] };
    expect(embeddingsDoor.body(lines)).toMatchObject({ model: 'auto/a/b', input: ['one', 'two'] });
    expect(rerankDoor.body(lines)).toMatchObject({ query: 'one\n\ntwo', documents: ['one', 'two'] });
  });
});

describe('answers', () => {
  it('pieces of a tool call have the key of their call', () => {
    const start = { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 't', name: 'f' } };
    const piece = { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{}' } };
    expect([start, piece].map(messagesDoor.readEvent)).toEqual([
      { calls: [{ key: '1', id: 't', name: 'f' }] },
      { calls: [{ key: '1', arguments: '{}' }] },
    ]);
  });

  it('the last event of a response brings usage, cost and the end', () => {
    const usage = { input_tokens: 3, output_tokens: 4, cost: 0.000001 };
    const read = responsesDoor.readEvent({ type: 'response.completed', response: { status: 'completed', usage } });
    expect(read).toEqual({
      finishReason: 'completed',
      usage: { promptTokens: 3, completionTokens: 4, costUsd: '0.000001000000' },
      isEnd: true,
    });
  });

  it('vectors and places are tables', () => {
    const vectors = embeddingsDoor.readAnswer({ data: [{ embedding: [0.5, -0.25] }] });
    expect(vectors.text).toContain('| 1 | 2 | 0.5000, -0.2500 |');
    const results = [{ index: 1, relevance_score: 0.9, document: { text: 'a|b' } }];
    expect(rerankDoor.readAnswer({ results }).text).toContain('| 1 | 0.9000 | a\\|b |');
  });
});
