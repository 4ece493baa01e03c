import { expect, it } from 'vitest';
import { knownLocale } from './locale.js';

it.each([
  ['de-CH', 'de-CH'],
  ['en-US@posix', 'en'],
  ['C', 'en'],
])('%s is read as %s', (wanted, locale) => {
  expect(knownLocale(() => wanted)).toBe(locale);
  expect(() => new Intl.NumberFormat(knownLocale(() => wanted))).not.toThrow();
});
