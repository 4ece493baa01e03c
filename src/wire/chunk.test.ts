import { describe, expect, it } from 'vitest';
import { forSeeds } from '../../tests/support/seeded-random.js';
import { asLatin1 } from '../base/latin1.js';
import { type Chunk, deliveredText, finishReasonOf, hasContent, parseChunk, writeChunk } from './chunk.js';

const identity = { id: 'gen-1', created: 7, model: 'acme/meta/llama/defra', includeUsage: false };
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString('utf8');
const chunkOf = (delta: object, more: object = {}): Chunk =>
  parseChunk(asLatin1(latin1(JSON.stringify({ choices: [{ index: 0, delta, ...more }] }))))!;
const frameJson = (frame: string): Record<string, unknown> => {
  expect(frame).toMatch(/^data: [^\n]*\n\n$/);
  return JSON.parse(utf8(frame.slice(6))) as Record<string, unknown>;
};

describe('reading a chunk', () => {
  it.each([
    '',
    'x',
    'null',
    '[]',
    '"a"',
    '1',
    '{',
    '{"choices":[null]}',
    '{"choices":[1]}',
    '{"choices":[{"delta":"x"}]}',
    '{"a":"\n"}',
  ])('takes %j for none', (data) => expect(parseChunk(asLatin1(data))).toBeNull());

  it.each(['{}', '{"choices":[]}', '{"choices":{}}', '{"choices":[{}]}', '{"choices":[{"delta":null}]}'])(
    'takes %s for one',
    (data) => {
      const chunk = parseChunk(asLatin1(data))!;
      expect(chunk).not.toBeNull();
      expect(deliveredText({ ...chunk, choices: Array.isArray(chunk.choices) ? chunk.choices : [] })).toBe('');
    },
  );
});

describe('writing a chunk', () => {
  const pieces = ['a', 'é', '字', '😀', '"', '\\', '\n', '\u2028', '\u0001'];
  const escaped = (text: string, always: boolean): string =>
    JSON.stringify(text).replace(
      always ? /[^\u0020-\u007e]/g : /[\u2028]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

  it('keeps every text as it was, in whatever way it was escaped', () => {
    forSeeds(500, (random) => {
      const text = random.textOf(pieces, 10);
      const data = latin1(`{"id":"up","choices":[{"delta":{"content":${escaped(text, random.chance(0.5))}}}]}`);
      const out = frameJson(writeChunk(parseChunk(asLatin1(data))!, identity));
      expect(out).toEqual({
        id: 'gen-1',
        object: 'chat.completion.chunk',
        created: 7,
        model: identity.model,
        choices: [{ delta: { content: text } }],
      });
    });
  });

  it('drops the upstream\u2019s usage and metadata, and a fingerprint of null, which clients of OpenRouter refuse', () => {
    const chunk = parseChunk(
      asLatin1(
        '{"choices":[],"usage":{"prompt_tokens":1},"x_groq":{"id":"r"},"router_metadata":{"a":1},"system_fingerprint":null}',
      ),
    )!;
    expect(Object.keys(frameJson(writeChunk(chunk, identity)))).toEqual([
      'choices',
      'id',
      'object',
      'created',
      'model',
    ]);
    expect(frameJson(writeChunk(chunk, { ...identity, includeUsage: true }))).not.toHaveProperty('usage');
    const named = parseChunk(asLatin1('{"choices":[],"system_fingerprint":"fp"}'))!;
    expect(frameJson(writeChunk(named, identity))).toHaveProperty('system_fingerprint', 'fp');
  });

  it('adds the metadata that it is given', () => {
    expect(
      frameJson(writeChunk(parseChunk(asLatin1('{"choices":[]}'))!, identity, '{"provider":"acme"}')).router_metadata,
    ).toEqual({ provider: 'acme' });
  });

  it('keeps a member named __proto__ a plain member', () => {
    const out = writeChunk(parseChunk(asLatin1('{"__proto__":{"polluted":1},"choices":[]}'))!, identity);
    expect(out).toContain('"__proto__":{"polluted":1}');
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('content', () => {
  it.each([
    { content: 'a' },
    { reasoning_content: 'a' },
    { reasoning: 'a' },
    { refusal: 'a' },
    { tool_calls: [{ index: 0 }] },
    { function_call: { name: 'f' } },
    { audio: { id: 'a' } },
  ])('is in the delta %j', (delta) => expect(hasContent(chunkOf(delta))).toBe(true));

  it.each([
    {},
    { role: 'assistant' },
    { role: 'assistant', content: '' },
    { content: null },
    { tool_calls: [] },
    { tool_calls: null },
    { content: 1 },
  ])('is not in the delta %j', (delta) => expect(hasContent(chunkOf(delta))).toBe(false));

  it('may be in any choice', () => {
    expect(hasContent({ choices: [{}, { delta: null }, { delta: { content: 'a' } }] })).toBe(true);
  });
});

describe('a finish reason', () => {
  it('is the first one that says something', () => {
    expect(finishReasonOf(chunkOf({}, { finish_reason: 'stop' }))).toBe('stop');
    expect(finishReasonOf({ choices: [{ finish_reason: null }, { finish_reason: 'length' }] })).toBe('length');
  });

  it.each([[null], [''], [0], [false], [{}]])('is not %j', (finish_reason) => {
    expect(finishReasonOf(chunkOf({}, { finish_reason }))).toBeNull();
  });
});

describe('delivered text', () => {
  it('is all that was generated, reasoning once: content, reasoning, refusal and tool calls', () => {
    const tool_calls = [{ function: { name: 'f', arguments: '{"a":"é"}' } }, null, 'x', { function: null }];
    const text = deliveredText(
      chunkOf({ content: 'a"\n', reasoning_content: 'b', reasoning: 'b', refusal: 'd', tool_calls }),
    );
    expect(JSON.parse(`"${utf8(text)}"`)).toBe('a"\nbdf{"a":"é"}');
  });

  it('can be joined over frames, also where a character was split over two escapes', () => {
    const halves = ['\\ud83d', '\\ude00'].map(
      (half) => parseChunk(asLatin1(`{"choices":[{"delta":{"content":"${half}"}}]}`))!,
    );
    expect(JSON.parse(`"${utf8(halves.map(deliveredText).join(''))}"`)).toBe('😀');
  });
});
