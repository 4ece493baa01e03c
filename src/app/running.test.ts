import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../storage/store.js';
import { startFaultText } from './running.js';

describe('a start that fails', () => {
  it.each([
    [
      'refused',
      new AggregateError([
        new Error('connect ECONNREFUSED ::1:5432'),
        new Error('connect ECONNREFUSED 127.0.0.1:5432'),
      ]),
    ],
    ['turned away', new Error('password authentication failed for user "lodestone"')],
  ])('because its store is out of reach says why, in the words of who %s it, and where to look', (_, cause) => {
    const text = startFaultText(new StoreUnavailable(cause));
    expect(text).toContain('The store cannot be reached. ');
    for (const { message } of cause instanceof AggregateError ? cause.errors : [cause]) expect(text).toContain(message);
    expect(text).toContain('storage.database_url');
  });
});
