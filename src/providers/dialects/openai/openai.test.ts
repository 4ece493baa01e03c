import { describe, expect, it } from 'vitest';
import type { ChatRequest } from '../../../wire/chat-request.js';
import { outgoingBytes } from '../../../wire/outgoing-body.js';
import { requestBody } from './openai.js';

const base: ChatRequest = {
  model: 'a/b/c',
  stream: false,
  includeUsage: false,
  needs: [],
  responseFormat: null,
  fallback: null,
  members: '"messages":[{"role":"user"}],"temperature":1',
  streamOptionMembers: '',
  encoding: 'latin1',
};
const target = { upstreamModel: 'llama-3', streamUsage: true };
const latin1 = (text: string): string => Buffer.from(text).toString('latin1');
const body = (request: Partial<ChatRequest>, to: Partial<typeof target> = {}): string => {
  return outgoingBytes(requestBody({ ...base, ...request }, { ...target, ...to })).toString('utf8');
};

describe('a request in OpenAI\u2019s dialect', () => {
  it('says "stream": false where no stream was asked for, and adds nothing else', () => {
    expect(body({})).toBe('{"model":"llama-3","stream":false,"messages":[{"role":"user"}],"temperature":1}');
  });

  it('always asks a stream for its usage, and keeps the caller\u2019s other stream options', () => {
    expect(JSON.parse(body({ stream: true }))).toMatchObject({ stream: true, stream_options: { include_usage: true } });
    const options = { stream: true, streamOptionMembers: '"include_obfuscation":false' };
    expect(JSON.parse(body(options)).stream_options).toEqual({ include_usage: true, include_obfuscation: false });
  });

  it('sends no stream_options where the upstream refuses them', () => {
    expect(JSON.parse(body({ stream: true }, { streamUsage: false }))).not.toHaveProperty('stream_options');
  });

  it.each(['latin1', 'utf8'] as const)('writes every character as it came (%s)', (encoding) => {
    const text = (json: string) => (encoding === 'latin1' ? latin1(json) : json);
    const expected = {
      model: 'modèle-字',
      stream: true,
      stream_options: { include_usage: true, note: 'é😀' },
      messages: ['Grüße 😀'],
    };
    const request = { stream: true, encoding, streamOptionMembers: text('"note":"é😀"') };
    const members = text('"messages":["Grüße 😀"]');
    const to = { upstreamModel: 'modèle-字' };
    expect(JSON.parse(body({ ...request, members }, to))).toEqual(expected);
    expect(
      JSON.parse(body({ ...request, members: Buffer.from(members, encoding) }, to)),
      'from the body thread',
    ).toEqual(expected);
  });

  it('escapes the upstream\u2019s model', () => {
    expect(JSON.parse(body({}, { upstreamModel: 'a"b\\c' })).model).toBe('a"b\\c');
  });
});
