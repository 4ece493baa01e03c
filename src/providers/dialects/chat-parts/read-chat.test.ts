import { describe, expect, it } from 'vitest';
import { asEncoded, bodyOf, readChat } from './read-chat.js';

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

  const toolOf = (name: string) => ({ type: 'function', function: { name } });
  const tools = [toolOf('f'), toolOf('g')];

  it.each<[unknown, unknown]>([
    ['auto', { kind: 'auto' }],
    ['none', { kind: 'none' }],
    ['required', { kind: 'required' }],
    ['any', { kind: 'required' }],
    ['ANY', { kind: 'required' }],
    ['g', { kind: 'tool', name: 'g' }],
    ['h', null],
    ['', null],
    [null, null],
    [7, null],
    [[], null],
    [{}, null],
    [{ mine: 1 }, null],
    [{ type: 'later' }, null],
    [toolOf('f'), { kind: 'tool', name: 'f' }],
    [
      { type: 'function', name: 'f' },
      { kind: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'f' } },
      { kind: 'tool', name: 'f' },
    ],
    [
      { type: 'tool', name: 'f' },
      { kind: 'tool', name: 'f' },
    ],
    [{ type: 'any' }, { kind: 'required' }],
    [{ type: 'none' }, { kind: 'none' }],
    [{ auto: {} }, { kind: 'auto' }],
    [{ any: {} }, { kind: 'required' }],
    [{ tool: { name: 'f' } }, { kind: 'tool', name: 'f' }],
    [{ functionCallingConfig: { mode: 'ANY' } }, { kind: 'required' }],
    [{ functionCallingConfig: { mode: 'NONE' } }, { kind: 'none' }],
    [{ functionCallingConfig: { mode: 'VALIDATED' } }, null],
  ])('reads the tool choice %j, whoever has this shape', (tool_choice, expected) => {
    const chat = read({ tools, tool_choice });
    expect(chat.toolChoice).toEqual(expected);
    expect(chat.tools.map(({ name }) => name)).toEqual(['f', 'g']);
    expect(chat.rest).toEqual({});
  });

  it.each<[string, unknown, unknown]>([
    ['auto', { allowed_tools: { mode: 'auto', tools: [toolOf('g')] } }, { kind: 'auto' }],
    ['required', { mode: 'required', tools: [{ type: 'function', name: 'g' }] }, { kind: 'required' }],
  ])('declares only the allowed tools, %s', (_, allowed, expected) => {
    const chat = read({ tools, tool_choice: { type: 'allowed_tools', ...(allowed as object) } });
    expect([chat.tools.map(({ name }) => name), chat.toolChoice]).toEqual([['g'], expected]);
  });

  it('declares all tools where no allowed one is among them', () => {
    const chat = read({ tools, tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [toolOf('h')] } } });
    expect(chat.tools).toHaveLength(2);
  });

  it('takes one call at a time from the choice, unless the request says otherwise itself', () => {
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true };
    expect(read({ tools, tool_choice }).parallelToolCalls).toBe(false);
    expect(read({ tools, tool_choice, parallel_tool_calls: true }).parallelToolCalls).toBe(true);
  });

  it('reads functions, the older name of tools, and their choice', () => {
    const functions = [{ name: 'f', description: 'F', parameters: { type: 'object' } }];
    const chat = read({ functions, function_call: { name: 'f' } });
    expect(chat.tools).toEqual([{ name: 'f', description: 'F', parameters: { type: 'object' }, strict: null }]);
    expect(chat.toolChoice).toEqual({ kind: 'tool', name: 'f' });
    expect(read({ functions, function_call: 'none' }).toolChoice).toEqual({ kind: 'none' });
    expect(chat.rest).toEqual({});
  });

  it('forgets the parameters that the route does not take', () => {
    const members = '"messages":[],"temperature":0.5,"top_p":0.9,"top_k":5,"seed":7';
    const chat = readChat({ members, encoding: 'latin1' }, ['temperature', 'top_k', 'seed']);
    expect([chat.temperature, chat.topP, chat.rest, chat.fields.seed]).toEqual([null, 0.9, {}, undefined]);
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

  it('keeps the fields that are not OpenAI\u2019s for the provider', () => {
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
      const body = bodyOf({ user: fields.user, model: asEncoded('ü', encoding) }, encoding);
      const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
      expect(JSON.parse(bytes.toString('utf8'))).toEqual({ user: 'é', model: 'ü' });
    }
  });
});
