/** What is left of a body without some of its tools. */
import { describe, expect, it } from 'vitest';
import { leavableTools } from '../../src/doors/leavable-tools.js';
import { cutsOf, withChanges } from '../../src/providers/cut-tools.js';

const hosted = ['search', 'fetch', 'maps'];

/** The body without the tools of some names, from a text and from bytes. */
function without(body: string, names: readonly string[]): string {
  const { tools } = JSON.parse(body) as { tools: unknown };
  const found = leavableTools(body, tools, ({ type }) => hosted.find((name) => name === type))!;
  const text = withChanges(body, cutsOf(body, found, names)) as string;
  const bytes = Buffer.from(body, 'latin1');
  const pieces = withChanges(bytes, cutsOf(bytes, found, names)) as Buffer[];
  expect(Buffer.concat(pieces).toString('latin1')).toBe(text);
  return text;
}

describe('a body without some of its tools', () => {
  const types = ['search', 'function', 'fetch', 'maps'];
  const subsets = ([name, ...others]: readonly string[]): string[][] => {
    if (name === undefined) return [[]];
    const rest = subsets(others);
    return [...rest, ...rest.map((set) => [name, ...set])];
  };

  it.each([
    ['close together', (tools: string) => `{"model":"m","tools":[${tools}],"tool_choice":"auto","n":1.0}`, ','],
    ['in several lines', (tools: string) => `{\n "tools" : [\n ${tools}\n ] ,\n "n" : 1.0\n}`, ' ,\n '],
  ])('keeps the others, whichever they are, and every number as it was: %s', (_, write, between) => {
    for (const declared of subsets(types)) {
      const tool = (type: string) => `{"type":"${type}","x":[1.0,{"y":"],\\"}{,"}]}`;
      const body = write(declared.map(tool).join(between));
      for (const names of subsets(hosted.filter((name) => declared.includes(name)))) {
        if (names.length === 0) continue;
        const rest = without(body, names);
        const kept = declared.filter((type) => !names.includes(type));
        expect((JSON.parse(rest) as { tools: { type: string }[] }).tools.map(({ type }) => type)).toEqual(kept);
        expect(rest.split('1.0')).toHaveLength(kept.length + 2);
        expect('tool_choice' in (JSON.parse(rest) as object)).toBe(body.includes('tool_choice') && kept.length > 0);
      }
    }
  });

  it('has no choice where no tool is left, wherever the choice stands', () => {
    const tools = '"tools":[{"type":"search"}]';
    expect(without(`{"tool_choice":"auto",${tools},"model":"m"}`, ['search'])).toBe('{"tools":[],"model":"m"}');
    expect(without(`{"model":"m",${tools},"tool_choice":{"type":"auto"}}`, ['search'])).toBe(
      '{"model":"m","tools":[]}',
    );
  });

  it('finds nothing to leave out where a name comes twice', () => {
    const body = '{"tools":[],"tools":[{"type":"search"}]}';
    expect(leavableTools(body, [{ type: 'search' }], () => 'search')).toBeUndefined();
  });
});
