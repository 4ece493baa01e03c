import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorsPage, renderErrorsPage } from '../../scripts/errors-page.mjs';
import { errorTable } from '../../src/errors/error-table.js';

describe('docs/guide/errors.md', () => {
  it('is what the error table renders to; "npm run docs" writes it', () => {
    expect(readFileSync(errorsPage, 'utf8')).toBe(renderErrorsPage(errorTable));
  });

  it('has one row for every condition', () => {
    const rows = renderErrorsPage(errorTable)
      .split('\n')
      .filter((line) => line.startsWith('- **')).length;
    expect(rows).toBe(Object.keys(errorTable).length);
  });
});
