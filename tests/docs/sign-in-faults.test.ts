/** Each fault of a sign-in has a message of its own on the sign-in page, and a line in the guide. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { signInFaultTexts } from '../../dashboard/src/pages/sign-in/sign-in-faults.js';
import { signInFaults } from '../../src/accounts/sign-in/oidc/faults.js';

it('every fault has a text of its own, and the guide says what to do', () => {
  const names = Object.keys(signInFaults);
  expect(Object.keys(signInFaultTexts)).toEqual(names);
  const texts = Object.values(signInFaultTexts).map((text) => text('Example Corp'));
  expect(new Set(texts).size).toBe(names.length);
  const guide = readFileSync(new URL('../../docs/guide/single-sign-on.md', import.meta.url), 'utf8');
  for (const name of names) expect(guide).toContain(`\`${name}\``);
});
