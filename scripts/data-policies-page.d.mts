/** The types of data-policies-page.mjs, for the test that compares the page with the catalogue. */
import type { Snapshot } from '../src/catalogue/route.js';

export const dataPoliciesPage: string;
export function renderDataPoliciesPage(text: string, snapshot: Pick<Snapshot, 'providers' | 'routes'>): string;
