/** The types of fields-page.mjs, for the test that holds page and tables together. */
import type { doors } from '../src/doors/registry.js';

export const fieldsPage: string;
export function renderFieldsPage(served: typeof doors): string;
