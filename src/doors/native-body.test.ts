import { expect, it } from 'vitest';
import { asLatin1, encodeLatin1 } from '../base/latin1.js';
import { nativeBody } from './native-body.js';

const modelOf = (text: string) => {
  const { body, modelStart, modelEnd } = nativeBody({ text: encodeLatin1(text), encoding: 'latin1' } as never);
  return {
    model: body.slice(modelStart, modelEnd).trim(),
    fields: JSON.parse(Buffer.from(asLatin1(body), 'latin1').toString()),
  };
};

it.each([
  ['a control character', '{"\\u000b":1,"fallback":{},"model":"m","x":"ü"}', { '\u000b': 1, model: 'm', x: 'ü' }],
  ['a quote', '{"a\\"b":1,"model":"m"}', { 'a"b': 1, model: 'm' }],
  ['a backslash', '{"model":"m","a\\\\b":1}', { 'a\\b': 1, model: 'm' }],
  ['an escape that is not needed', '{"\\u006dodel":"m"}', { model: 'm' }],
  [
    'a prototype',
    '{"__proto__":{"a":1},"\\u0001":2,"model":"m"}',
    JSON.parse('{"__proto__":{"a":1},"\\u0001":2,"model":"m"}'),
  ],
])('finds the model beside a key with %s', (_, text, fields) => {
  expect(modelOf(text)).toEqual({ model: '"m"', fields });
});

it('takes the last of several models', () => {
  expect(modelOf('{"model":"a","messages":[],"model":"m"}')).toEqual({
    model: '"m"',
    fields: { model: 'm', messages: [] },
  });
});
