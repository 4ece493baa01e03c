import { expect, it } from 'vitest';
import { matchingLines, type ReportLine, readReport } from './read-report.js';

const lines: ReportLine[] = [
  { field: 'config.yaml model_list[0].model_name', verdict: 'taken', words: 'the name `a|b`' },
  { field: 'config.yaml router_settings.num_retries', verdict: 'changed', words: 'not called again' },
  { field: 'config.yaml litellm_settings.cache', verdict: 'not taken', words: 'answers are not kept' },
];
const markdown = `# Import from config.yaml

1 taken, 1 changed, 1 not taken.

| field | outcome | |
|---|---|---|
| config.yaml model_list[0].model_name | taken | the name \`a\\|b\` |
| config.yaml router_settings.num_retries | changed | not called again |
| config.yaml litellm_settings.cache | not taken | answers are not kept |
`;

it('reads the report that the command writes, and what it prints', () => {
  expect(readReport(markdown)).toEqual({ title: 'Import from config.yaml', lines });
  expect(readReport(JSON.stringify({ counts: {}, report: lines }))?.lines).toEqual(lines);
  for (const text of ['', '# Another page', '{', '{"report": [1]}', '[]']) expect(readReport(text)).toBeNull();
});

it('filters by outcome and by words', () => {
  const fields = (...filter: ['taken' | 'changed' | 'not taken' | '', string]) =>
    matchingLines(lines, ...filter).map(({ field }) => field.split('.').at(-1));
  expect(fields('', '')).toEqual(['model_name', 'num_retries', 'cache']);
  expect(fields('not taken', '')).toEqual(['cache']);
  expect(fields('', 'Kept answers')).toEqual(['cache']);
  expect(fields('taken', 'kept')).toEqual([]);
});
