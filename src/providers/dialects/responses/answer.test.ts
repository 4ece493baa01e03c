/** What a response counts of tools that ran at the provider. */
import { describe, expect, it } from 'vitest';
import { readUsage } from '../../../wire/usage.js';
import { usageOf } from './answer.js';
import { scanResponse } from './scan-answer.js';

const terms = { contextWindow: null };
const usage = { input_tokens: 9, output_tokens: 3, total_tokens: 12 };
const search = (action?: object) => ({
  type: 'web_search_call',
  id: 'w',
  status: 'completed',
  ...(action && { action }),
});
const code = (container: string) => ({ type: 'code_interpreter_call', id: 'c', container_id: container, code: '1' });
const shell = (environment: object | null) => ({ type: 'shell_call', id: 's', call_id: 's', environment });

/** The uses that are billed, by tool. */
function usesOf(response: object): Record<string, number> {
  const reading = readUsage(usageOf({ usage, output: [], ...response }), terms);
  if (reading.kind !== 'usage') throw new Error(`no usage: ${JSON.stringify(reading)}`);
  return Object.fromEntries(reading.usage.toolCalls.map(({ name, calls }) => [name, calls]));
}

it('a response without usage, or one that is not over, still names its tier', () => {
  for (const response of [{ service_tier: 'flex' }, { service_tier: 'flex', usage: null }])
    expect(readUsage(usageOf(response), terms)).toEqual({ kind: 'absent', unpricedTier: 'flex' });
  expect(usageOf({ usage: null, service_tier: null })).toBeUndefined();
});

describe('uses of tools in a response', () => {
  it('counts searches of the web, and not the pages that were opened or searched through', () => {
    const output = [
      search({ type: 'search', query: 'a', queries: ['a', 'b'] }),
      search({ type: 'open_page', url: 'https://x.test' }),
      search({ type: 'find_in_page', url: 'https://x.test', pattern: 'p' }),
      search({ type: 'a_later_invention' }),
      search({ type: 'search', query: 'c' }),
    ];
    expect(usesOf({ output })).toEqual({ web_search: 2 });
    expect(usesOf({ output: output.slice(1, 4) })).toEqual({});
  });

  it('counts a call of the web search that does not say what it did', () => {
    expect(usesOf({ output: [search(), search({ query: 'x' })] })).toEqual({ web_search: 2 });
  });

  it('takes the count of searches that the response has, whatever its items show', () => {
    const output = [search({ type: 'search', queries: ['a', 'b'] }), { type: 'file_search_call' }];
    const counted = (searches: unknown) => ({ image_gen: { total_tokens: 0 }, web_search: { num_requests: searches } });
    expect(usesOf({ output, tool_usage: counted(2) })).toEqual({ web_search: 2, file_search: 1 });
    expect(usesOf({ output, tool_usage: counted(0) })).toEqual({ file_search: 1 });
    expect(usesOf({ output, tool_usage: counted(null) })).toEqual({ web_search: 1, file_search: 1 });
    expect(usesOf({ output, tool_usage: null })).toEqual({ web_search: 1, file_search: 1 });
    expect(readUsage(usageOf({ usage, output, tool_usage: counted(-1) }), terms).kind).toBe('fault');
  });

  it('takes the counts of the usage, which leave out calls that failed', () => {
    const output = [search({ type: 'search' }), search({ type: 'search' }), code('c1')];
    const counts = { web_search_calls: 1, x_search_calls: 3, code_interpreter_calls: 0 };
    const own = { ...usage, server_side_tool_usage_details: counts };
    expect(usesOf({ usage: own, output })).toEqual({ web_search: 1, x_search: 3 });
    expect(usesOf({ usage: { ...usage, server_tool_use: { web_search_requests: 4 } }, output })).toEqual({
      web_search: 4,
    });
    expect(usesOf({ usage: { ...usage, server_tool_use: {} }, output })).toEqual({
      web_search: 2,
      code_interpreter: 1,
    });
  });

  it('counts a container once, however often and by whatever tool it is used', () => {
    const output = [code('c1'), code('c1'), code('c2'), shell({ type: 'container_reference', container_id: 'c2' })];
    expect(usesOf({ output })).toEqual({ code_interpreter: 2 });
    const shells = [shell({ type: 'container_reference', container_id: 'c3' }), shell({ type: 'local' }), shell(null)];
    expect(usesOf({ output: shells })).toEqual({ hosted_shell: 1 });
  });

  it('names a container by its memory, where that is not the usual one', () => {
    const tools = [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '4g' } }];
    expect(usesOf({ tools, output: [code('c1')] })).toEqual({ code_interpreter_4g: 1 });
    const usual = [{ type: 'code_interpreter', container: { type: 'auto', memory_limit: '1g' } }];
    expect(usesOf({ tools: usual, output: [code('c1')] })).toEqual({ code_interpreter: 1 });
  });

  it('does not count what the client runs', () => {
    const items = ['function_call', 'custom_tool_call', 'computer_call', 'local_shell_call', 'apply_patch_call'];
    expect(usesOf({ output: items.map((type) => ({ type })) })).toEqual({});
  });

  it('scans a response that counts no search, and leaves one that counts some to the parser', () => {
    const response = (searches: unknown) =>
      Buffer.from(
        JSON.stringify({
          model: 'm',
          status: 'completed',
          output: [{ type: 'message', content: [] }],
          tool_usage: { web_search: { num_requests: searches } },
          usage,
        }),
      );
    expect(scanResponse(response(0), terms)).not.toBeNull();
    for (const searches of [1, 10, 0.5, '0', null]) expect(scanResponse(response(searches), terms)).toBeNull();
  });
});
