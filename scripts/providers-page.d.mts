/** The types of providers-page.mjs, for the test that compares the page with the catalogue. */
import type { Snapshot } from '../src/catalogue/route.js';

export function renderProvidersPage(text: string, snapshot: Pick<Snapshot, 'providers' | 'routes'>): string;
