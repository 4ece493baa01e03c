import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../../../src/http/openapi/document.js';

/** Findings that were looked at and are as they should be: the rule, where, and why. */
const judged: readonly { rule: string; at: RegExp; why: string }[] = [
  {
    rule: 'operation-4xx-response',
    at: /^#\/paths\/~1(healthz|readyz)\/get\/responses$/,
    why: 'No check applies to a probe; what the HTTP layer refuses is its `default` response.',
  },
];

async function findings(text: string) {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({ source: text, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location: [place] }) => ({ ruleId, at: place?.pointer ?? '', message }));
}

describe('the OpenAPI document', () => {
  it('has no fault and no warning of the linter that was not judged', async () => {
    const open = (await findings(JSON.stringify(openApiDocument))).filter(
      ({ ruleId, at }) => !judged.some((one) => one.rule === ruleId && one.at.test(at)),
    );
    expect(open).toEqual([]);
  });

  it('would fail where an operation refers to nothing', async () => {
    const [path, item] = Object.entries(openApiDocument.paths).find(([, one]) =>
      JSON.stringify(one).includes('/Credits"'),
    )!;
    const one = JSON.stringify({ ...openApiDocument, paths: { [path]: item } });
    const broken = one.replace('#/components/schemas/Credits', '#/components/schemas/Gone');
    expect((await findings(broken)).map(({ ruleId }) => ruleId)).toContain('no-unresolved-refs');
  });
});
