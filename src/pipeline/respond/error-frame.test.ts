import { expect, it } from 'vitest';
import type { Chunk } from '../../wire/chunk.js';
import { isErrorFrame } from './error-frame.js';

const error = { code: 502, message: 'gone' };

it.each<object>([
  { error },
  { choices: [], error },
  { choices: null, error },
  { choices: [{ index: 0, delta: { content: 'x' } }], error },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop', error }] },
  { choices: [{ index: 0, delta: { content: 'x' }, error }] },
  { choices: [{ index: 0, delta: {} }], x_groq: { id: 'r', error: 'over capacity' } },
  { choices: [], object: 'error', message: 'gone' },
  { choices: null, ...error },
])('is an error: %j', (frame) => expect(isErrorFrame(frame as Chunk)).toBe(true));

it.each<object>([
  {},
  { choices: null },
  { choices: [], error: null, errors: [], usage: null },
  { choices: [], error: {}, x_groq: { id: 'r', error: null } },
  { choices: [{ index: 0, delta: { content: 'x' }, error: null }], x_groq: null, message: '' },
  { choices: [{ index: 0, delta: { content: 'x' } }], message: 'of the server' },
])('is no error: %j', (frame) => expect(isErrorFrame(frame as Chunk)).toBe(false));
