import { expect, it } from 'vitest';
import { StoreUnavailable } from './store.js';

const withCode = (code: string) => Object.assign(new Error('text of the driver'), { code });

it.each([
  ['a full disk', withCode('53100'), 'The store answered with an error (SQLSTATE 53100).'],
  ['a deadlock', withCode('40P01'), 'The store answered with an error (SQLSTATE 40P01).'],
  ['a query without an answer', new Error('Query read timeout'), 'The store does not answer in time.'],
  ['a server that stops', withCode('57P01'), 'The store cannot be reached.'],
  ['a broken pipe', withCode('EPIPE'), 'The store cannot be reached.'],
  ['a refused connection', withCode('ECONNREFUSED'), 'The store cannot be reached.'],
])('%s is not taken for something else', (_, cause, text) => {
  expect(new StoreUnavailable(cause).message).toBe(text);
});
