import { appendFileSync, existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { keptLog } from './kept-by-gateway.js';
import { createSearchesFile, takeSearches } from './secret-searches.js';
import { secretsIn } from './secrets.js';

const known = new Map([
  ['sk-lr-AbCdEf', 'a key'],
  ['127.0.0.1:4312', 'an address'],
]);

describe('the search for secrets', () => {
  it.each([
    ['in the middle of a text', 'x sk-lr-AbCdEfy', ['a key']],
    ['as bytes in hexadecimal', `\\x${Buffer.from('..sk-lr-AbCdEf').toString('hex')}`, ['a key']],
    ['at the end of a text', 'connect to 127.0.0.1:4312', ['an address']],
    ['both', '127.0.0.1:4312/sk-lr-AbCdEf', ['a key', 'an address']],
    ['a longer port is another address', 'http://127.0.0.1:43121/', []],
    ['nothing', 'sk-lr-AbCdE', []],
  ])('finds: %s', (_, text, found) => {
    expect(secretsIn(text, known)).toEqual(found);
  });

  it('sees the log as it would be written, errors with their causes, and tells the test’s own logger', () => {
    const told: string[] = [];
    const own = { debug() {}, info() {}, warn() {}, error: (_: object, message: string) => void told.push(message) };
    const { logger, lines } = keptLog(own);
    logger.debug({ deep: { er: 'fine' } }, 'one');
    logger.error({ err: new Error('broken', { cause: new Error('sk-lr-AbCdEf') }) }, 'two');
    expect(lines).toHaveLength(2);
    expect(secretsIn(lines[1]!, known)).toEqual(['a key']);
    expect(told).toEqual(['two']);
  });

  it('sums up a run, and reports a leak that no test reported', () => {
    const file = createSearchesFile();
    const note = (what: string, count: number, leaks: string[] = []) =>
      appendFileSync(file, `${JSON.stringify({ what, count, leaks })}\n`);
    note('journal', 1);
    note('logs', 5);
    note('database', 7, ['a key']);
    note('errors', 3);
    note('errors', 4);
    const { summary, leaks } = takeSearches(file);
    expect(summary).toBe('Secrets: 5 log lines, 7 rows and 7 error answers of 1 gateways searched, 1 leaks.');
    expect(leaks).toEqual(['a key in the database']);
    expect(existsSync(file)).toBe(false);
  });
});
