/** The types of gates-page.mjs, for the test that holds page and list together. */
import type { gates } from '../src/policy/gates/index.js';
import type { defaultPolicy, preferences } from '../src/policy/policy.js';

export const gatesPage: string;
export function renderGatesPage(parts: {
  gates: typeof gates;
  defaultPolicy: typeof defaultPolicy;
  preferences: typeof preferences;
}): string;
