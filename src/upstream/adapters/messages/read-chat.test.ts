import { describe, expect, it } from 'vitest';
import { beside, bodyOf, readChat } from './read-chat.js';

const read = (fields: object) =>
  readChat({ members: JSON.stringify({ messages: [], ...fields }).slice(1, -1), encoding: 'latin1' });

describe('a chat request taken apart', () => {
  it('has the newer limit before the older one', () => {
    expect(read({ max_tokens: 5, max_completion_tokens: 7 }).maxTokens).toBe(7);
    expect(read({ max_tokens: 5 }).maxTokens).toBe(5);
    expect(read({}).maxTokens).toBeNull();
  });

  it('has stop sequences as a list, without empty ones', () => {
    expect(read({ stop: 'a' }).stop).toEqual(['a']);
    expect(read({ stop: ['a', '', 'b'] }).stop).toEqual(['a', 'b']);
    expect(read({ stop: null }).stop).toEqual([]);
  });

  it('knows the choice of a tool in every shape, and keeps one that it does not know', () => {
    const named = { type: 'function', function: { name: 'f' } };
    const other = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } };
    expect(
      ['auto', 'none', 'required', named, other, null].map((tool_choice) => read({ tool_choice }).toolChoice),
    ).toEqual([
      { kind: 'auto' },
      { kind: 'none' },
      { kind: 'required' },
      { kind: 'tool', name: 'f' },
      { kind: 'other', value: other },
      null,
    ]);
  });

  it('tells functions from tools of other kinds', () => {
    const search = { type: 'web_search_20250305', name: 'web_search' };
    const marked = {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object' }, strict: true },
      cache_control: { type: 'ephemeral' },
    };
    const { tools, otherTools } = read({ tools: [search, marked] });
    expect(otherTools).toEqual([search]);
    expect(tools).toEqual([
      {
        name: 'f',
        description: null,
        parameters: { type: 'object' },
        strict: true,
        cacheControl: { type: 'ephemeral' },
      },
    ]);
  });

  it('keeps the fields that are not OpenAI\u2019s for the provider (contract 4.1)', () => {
    const fields = {
      top_k: 5,
      thinking: { type: 'adaptive' },
      nothing: null,
      seed: 1,
      store: true,
      modalities: ['text'],
    };
    expect(read(fields).rest).toEqual({ top_k: 5, thinking: { type: 'adaptive' } });
    expect(read({ modalities: ['text', 'audio'] }).rest).toEqual({ modalities: ['text', 'audio'] });
  });

  it('reads members that came as bytes, and writes either encoding back unharmed', () => {
    const members = Buffer.from('"messages":[],"user":"é"');
    for (const encoding of ['latin1', 'utf8'] as const) {
      const { fields } = readChat({ members, encoding });
      const body = bodyOf({ user: fields.user, model: beside('ü', encoding) }, encoding);
      const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
      expect(JSON.parse(bytes.toString('utf8'))).toEqual({ user: 'é', model: 'ü' });
    }
  });
});
