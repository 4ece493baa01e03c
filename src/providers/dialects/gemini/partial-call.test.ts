import { describe, expect, it } from 'vitest';
import type { Fields } from '../chat-parts/conversation.js';
import { PartialCall } from './partial-call.js';

/** The arguments that pieces `[path, value, willContinue]` become. */
function argumentsOf(...pieces: [path: string, value: Fields, willContinue?: boolean][]): unknown {
  const call = new PartialCall('f', 'utf8');
  for (const [jsonPath, value, willContinue] of pieces) {
    call.take({ partialArgs: [{ jsonPath, ...value, willContinue }], willContinue: true }, undefined, 'utf8');
  }
  return JSON.parse(call.complete('utf8', false).arguments || '{}');
}

const text = (stringValue: string): Fields => ({ stringValue });

describe('a call in pieces', () => {
  it('has its values where their paths say', () => {
    expect(
      argumentsOf(
        ['$.a.b[0].c', text('x')],
        ['$.a.b[0]["d e"]', { numberValue: 0 }],
        ["$.a['b'][1]", { boolValue: true }],
        ["$['f.g']['it\\'s']", { nullValue: 'NULL_VALUE' }],
        ['plain', text('no root')],
      ),
    ).toEqual({ a: { b: [{ c: 'x', 'd e': 0 }, true] }, 'f.g': { "it's": null }, plain: 'no root' });
  });

  it('joins the pieces of a text only while it goes on', () => {
    expect(argumentsOf(['$.a', text('x'), true], ['$.a', text('y'), true], ['$.a', text('z')])).toEqual({ a: 'xyz' });
    expect(argumentsOf(['$.a', text('x')], ['$.a', text('y')])).toEqual({ a: 'y' });
    expect(argumentsOf(['$.a', text('x'), true], ['$.a', {}])).toEqual({ a: 'x' });
  });

  it('has no more places in a list than values, whatever index a provider names', () => {
    expect(argumentsOf(['$.a[4000000000]', text('x')], ['$.a[7]', text('y')])).toEqual({ a: ['x', 'y'] });
  });

  it('with more than a stream may hold is cut off there', () => {
    const call = new PartialCall('f', 'utf8');
    const piece = { jsonPath: '$.a', stringValue: 'x'.repeat(64 * 1024), willContinue: true };
    for (let i = 0; i < 1_000; i++) call.take({ partialArgs: [piece], willContinue: true }, undefined, 'utf8');
    const { arguments: text } = call.complete('utf8', false);
    expect([text.length > 900_000, text.length < 1_100_000, text.endsWith('}')]).toEqual([true, true, false]);
  });

  it('that was cut off is not JSON, so that nobody takes its arguments for all', () => {
    const call = new PartialCall('f', 'utf8');
    expect(call.complete('utf8', true).arguments).toBe('');
    call.take({ partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }], willContinue: true }, undefined, 'utf8');
    expect(call.complete('utf8', true).arguments).toBe('{"a":"x"');
  });

  it('leaves out what has no place in the arguments', () => {
    const deep = `$${'.a'.repeat(200)}`;
    const paths = ['', '$', '$[0]', '$..a', '$.*', '$.a[?@.b]', '$.__proto__.x', "$.a['__proto__'].x", deep];
    expect(argumentsOf(...paths.map((path): [string, Fields] => [path, text('x')]))).toEqual({});
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('keeps every character, though its events are read in different encodings', () => {
    const bytes = (value: string): string => Buffer.from(value, 'utf8').toString('latin1');
    for (const last of ['latin1', 'utf8'] as const) {
      const call = new PartialCall(bytes('kröte'), 'latin1');
      call.take({ args: { a: bytes('字') } }, undefined, 'latin1');
      call.take(
        { partialArgs: [{ jsonPath: '$.b', stringValue: bytes('é'), willContinue: true }] },
        undefined,
        'latin1',
      );
      call.take({ partialArgs: [{ jsonPath: '$.b', stringValue: '😀' }] }, undefined, 'utf8');
      const { name, arguments: args } = call.complete(last, false);
      expect([name, args].map((value) => Buffer.from(value, last).toString('utf8'))).toEqual([
        'kröte',
        '{"a":"字","b":"é😀"}',
      ]);
    }
  });
});
