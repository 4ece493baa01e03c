/** The types of gates-page.mjs, for the test that holds page and list together. */
import type { gates } from '../src/policy/gates/index.js';
import type { defaultPolicy } from '../src/policy/policy.js';
import type { preferences } from '../src/policy/routing-policy.js';

export const gatesPage: string;
export function renderGatesPage(parts: {
  gates: typeof gates;
  defaultPolicy: typeof defaultPolicy;
  preferences: typeof preferences;
}): string;
export const policyPage: string;
export function renderPolicyPage(
  page: string,
  parts: {
    gates: readonly { readonly name: string }[];
    defaultPolicy: Readonly<Record<string, unknown>> | typeof defaultPolicy;
  },
): string;
