import { describe, expect, it } from 'vitest';
import { takeOutLongTexts } from './long-texts.js';

const long = (character: string): string => character.repeat(20_000);
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const isRead = (): boolean => true;

describe('long texts', () => {
  it('are taken out and put back, byte for byte', () => {
    const value = {
      model: 'a/b/c',
      messages: [{ role: 'user', content: long('é"\\\n😀') }, { content: [{ text: long('x') }] }],
    };
    const body = bytesOf(value);
    const texts = takeOutLongTexts(body, isRead)!;
    const rest = texts.rest();
    expect(rest.length).toBeLessThan(400);
    expect(() => JSON.parse(rest.toString('utf8'))).not.toThrow();
    expect(Buffer.from(texts.putBack(rest.toString('latin1'), 'latin1')).equals(body)).toBe(true);
  });

  it('are put back into texts that were written anew, also into a JSON text inside of a string', () => {
    const content = long('é"\\\n😀');
    const texts = takeOutLongTexts(bytesOf({ content }), isRead)!;
    const rest = JSON.parse(texts.rest().toString('utf8')) as { content: string };
    const inner = JSON.stringify({ code: `Error: ${rest.content}` });
    const twice = JSON.stringify({ arguments: inner, again: JSON.stringify({ inner }), text: `${rest.content}!` });
    const read = JSON.parse(Buffer.from(texts.putBack(twice, 'utf8')).toString('utf8')) as Record<string, string>;
    expect(JSON.parse(read.arguments!)).toEqual({ code: `Error: ${content}` });
    expect(JSON.parse(JSON.parse(read.again!).inner)).toEqual({ code: `Error: ${content}` });
    expect(read.text).toBe(`${content}!`);
  });

  it('say where a position is once they are back', () => {
    const body = bytesOf({ input: long('a'), model: 'a/b/c' });
    const texts = takeOutLongTexts(body, isRead)!;
    const rest = texts.rest().toString('latin1');
    expect(texts.positionOf(rest, rest.indexOf('"a/b/c"'))).toBe(body.indexOf('"a/b/c"'));
  });

  it('are taken out of fields that nobody reads, whatever their names are', () => {
    const body = bytesOf({ model: long('x'), unknown: { deep: [long('x')] }, type: long('x') });
    const rest = takeOutLongTexts(body, (name) => name !== 'unknown')!.rest();
    expect(rest.length).toBeGreaterThan(40_000);
    expect(rest.length).toBeLessThan(41_000);
  });

  it.each([
    ['short', bytesOf({ content: 'x'.repeat(500), more: 'y'.repeat(100_000) })],
    ['under names that decide something', bytesOf({ model: long('x'), service_tier: long('x'), type: long('x') })],
    ['names themselves', bytesOf({ [long('x')]: 1 })],
    ['not UTF-8', Buffer.from(`{"content":"${long('é')}"}`, 'latin1')],
    ['not closed', Buffer.from(`{"content":"${long('x')}`)],
    ['with a line break', Buffer.from(`{"content":"${long('x')}\n"}`)],
    ['with an unknown escape', Buffer.from(`{"content":"${long('x')}\\x"}`)],
    ['with half an escape', Buffer.from(`{"content":"${long('x')}\\u12g4"}`)],
  ])('stay where they are if they are %s', (_, body) => {
    expect(takeOutLongTexts(body, isRead)).toBeNull();
  });
});
