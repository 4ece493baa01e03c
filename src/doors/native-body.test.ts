import { expect, it } from 'vitest';
import { asLatin1, encodeLatin1 } from '../base/latin1.js';
import { findMembers } from '../wire/json-members.js';
import { nativeBody } from './native-body.js';

const placed = (text: string, added?: Record<string, string>) => {
  const latin1 = encodeLatin1(text);
  return nativeBody({ text: latin1, encoding: 'latin1', fields: JSON.parse(latin1) }, findMembers(latin1), added);
};

const modelOf = (text: string) => {
  const { body, modelStart, modelEnd } = placed(text);
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

it.each([
  ['is missing', '{"model":"m","input":"ü"}', '{"model":"m","input":"ü","store":false}'],
  ['is missing behind the model', '{"input":"ü","model":"m"}', '{"input":"ü","model":"m","store":false}'],
  ['has the value', '{"store": false,"model":"m"}', '{"store": false,"model":"m"}'],
  ['has another value', '{"store":null,"model":"m"}', '{"store":false,"model":"m"}'],
  ['stands twice', '{"model":"m","store":1,"store":2}', '{"model":"m","store":false}'],
  ['is missing beside a field of ours', '{"session_id":"s","model":"m"}', '{"model":"m","store":false}'],
])('adds a member that %s', (_, text, expected) => {
  const { body, modelStart, modelEnd } = placed(text, { store: 'false' });
  expect(Buffer.from(body, 'latin1').toString()).toBe(expected);
  expect(body.slice(modelStart, modelEnd)).toBe('"m"');
});

it.each([
  ['a tool', '{"n":1.0,"tools":[{"type":"x","type":"y"}],"model":"m"}', '{"n":1.0,"tools":[{"type":"y"}],"model":"m"}'],
  ['text', '{"model":"m","a":[{"b":{"t":"ü","t":"é"}}]}', '{"model":"m","a":[{"b":{"t":"é"}}]}'],
  ['an escaped name', '{"model":"m","a":{"\\u0062":1,"b":2}}', '{"model":"m","a":{"b":2}}'],
  ['a field of ours', '{"model":"m","a":1.0,"provider":{"b":1,"b":2}}', '{"model":"m","a":1.0}'],
  [
    'a field of ours that stands twice too',
    '{"fallback":{},"fallback":{},"model":"m","a":{"b":1,"b":2}}',
    '{"model":"m","a":{"b":2}}',
  ],
])('has the last of duplicate keys, which is the one that was checked: %s', (_, text, expected) => {
  const { body, modelStart, modelEnd } = placed(text);
  expect(Buffer.from(body, 'latin1').toString()).toBe(expected);
  expect(body.slice(modelStart, modelEnd)).toBe('"m"');
});
