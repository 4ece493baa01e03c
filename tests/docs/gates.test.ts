import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gatesPage, renderGatesPage } from '../../scripts/gates-page.mjs';
import { gates } from '../../src/policy/gates/index.js';
import { defaultPolicy } from '../../src/policy/policy.js';
import { preferences } from '../../src/policy/routing-policy.js';

const page = () => renderGatesPage({ gates, defaultPolicy, preferences });

describe('docs/guide/gates.md', () => {
  it('is what the list of gates renders to; "npm run docs" writes it', () => {
    expect(readFileSync(gatesPage, 'utf8')).toBe(page());
  });

  it('has one row for every gate, in the order in which they count', () => {
    const named = [...page().matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name);
    expect(named).toEqual(gates.map(({ name }) => name));
  });
});
