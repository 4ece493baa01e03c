/** The types of errors-page.mjs, for the test that holds page and table together. */
import type { errorTable } from '../src/errors/error-table.js';

export const errorsPage: string;
export function renderErrorsPage(table: typeof errorTable): string;
