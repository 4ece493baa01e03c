import { describe, expect, it } from 'vitest';
import { readResponsesRequest } from './read-request.js';

const read = (more: object) => {
  const request = readResponsesRequest(Buffer.from(JSON.stringify({ model: 'auto/a/b', input: 'Hi', ...more })));
  const { inexpressible, optional } = request.native!;
  const sent = JSON.parse(`{${String(request.members)}}`) as Record<string, unknown>;
  return { inexpressible, left: optional.map(({ name }) => name), sent };
};
const ping = { type: 'function', name: 'ping', parameters: { type: 'object' } };
const search = { type: 'web_search' };
const allowed = (mode: string, ...tools: object[]) => ({ type: 'allowed_tools', mode, tools });
const named = { type: 'function', name: 'ping' };

describe('a translated choice among allowed tools', () => {
  it.each([
    ['required of tools that run at the provider only', [ping, search], allowed('required', search), 'tools'],
    ['required of a tool that is not there', [ping], allowed('required', search), 'tool_choice'],
    ['required of no tool', [ping], allowed('required'), 'tool_choice'],
    ['required without functions', [search], allowed('required', named, search), 'tool_choice'],
  ])('cannot be kept: %s', (_, tools, tool_choice, param) => {
    expect(read({ tools, tool_choice }).inexpressible).toMatchObject([{ param }]);
  });

  it.each([
    ['required, with a function among them', 'required', [named, search], { mode: 'required', tools: 1 }],
    ['auto, with a function among them', 'auto', [named, search], { mode: 'auto', tools: 1 }],
    ['auto, of tools that run at the provider only', 'auto', [search], 'none'],
  ])('is kept without the tools that run at the provider: %s', (_, mode, tools, choice) => {
    const { inexpressible, left, sent } = read({ tools: [ping, search], tool_choice: allowed(mode, ...tools) });
    expect([inexpressible, left]).toEqual([[], ['tools.web_search']]);
    const functions = { type: 'function', function: { name: 'ping' } };
    expect(sent.tool_choice).toEqual(
      choice === 'none' ? choice : { type: 'allowed_tools', allowed_tools: { mode, tools: [functions] } },
    );
  });
});

describe('a translated request', () => {
  it('leaves hints of other APIs out and names them', () => {
    const { inexpressible, left } = read({ cache_control: { type: 'ephemeral' }, safety_identifier: 's' });
    expect([inexpressible, left.sort()]).toEqual([[], ['cache_control', 'safety_identifier']]);
  });

  it('takes a message whose type is null', () => {
    const { inexpressible, sent } = read({ input: [{ type: null, role: 'user', content: 'Hi' }] });
    expect([inexpressible, sent.messages]).toEqual([[], [{ role: 'user', content: 'Hi' }]]);
  });
});
