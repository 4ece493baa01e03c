import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gatesPage, policyPage, renderGatesPage, renderPolicyPage } from '../../scripts/gates-page.mjs';
import { gates } from '../../src/policy/gates/index.js';
import { defaultPolicy } from '../../src/policy/policy.js';
import { preferences } from '../../src/policy/routing-policy.js';

const page = () => renderGatesPage({ gates, defaultPolicy, preferences });

describe('docs/behaviour/policy.md', () => {
  const rules = readFileSync(policyPage, 'utf8');

  it('has the defaults and the order of the gates; "npm run docs" writes them', () => {
    expect(renderPolicyPage(rules, { gates, defaultPolicy })).toBe(rules);
  });

  it('gets another gate in both places', () => {
    const written = renderPolicyPage(rules, {
      gates: [...gates, { name: 'max_grid' }],
      defaultPolicy: { ...defaultPolicy, max_grid: null },
    });
    expect(written).toContain('`quantizations`, `max_grid`\n');
    expect(written).toContain('\n  "max_grid": null\n}');
  });
});

describe('docs/guide/gates.md', () => {
  it('is what the list of gates renders to; "npm run docs" writes it', () => {
    expect(readFileSync(gatesPage, 'utf8')).toBe(page());
  });

  it('has one row for every gate, in the order in which they count', () => {
    const named = [...page().matchAll(/^\| `(\w+)` \| .+ \| .+ \|$/gm)].map(([, name]) => name);
    expect(named).toEqual(gates.map(({ name }) => name));
  });
});
