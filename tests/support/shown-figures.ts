/** Reads figures off a page of the dashboard: the headline, the rows of a table, and any figure by its label. */
import type { Page } from 'playwright-core';
import { parseUsd } from '../../src/base/money.js';

export interface Sums {
  requests: number;
  errors: number;
  pico: bigint;
}

export const numberOf = (text: string | null) => Number((text ?? '').replace(/[^\d]/g, '') || Number.NaN);
export const picoOf = (text: string | null) => parseUsd((text ?? '').replace(/[$,+]/g, '').replace('−', '-'))!;

/** What the page shows as its headline, each figure exact where it is shortened. */
export async function headline(page: Page): Promise<Sums> {
  const shown = async (label: string) => {
    const figure = page.locator(`[data-figure="${label}"]`);
    const exact = figure.locator('[data-exact]');
    return (await exact.count()) > 0 ? exact.first().getAttribute('data-exact') : figure.textContent();
  };
  return {
    requests: numberOf(await shown('Requests')),
    errors: numberOf(await shown('Errors')),
    pico: picoOf(await shown('Spend')),
  };
}

/** The sums of the rows of a table. */
export async function rowsOf(page: Page, caption: string): Promise<Sums> {
  const table = page.getByRole('table', { name: caption });
  await table.waitFor();
  const cells = (label: string) => table.locator(`td[data-label="${label}"]`);
  const total = async (label: string) =>
    (await cells(label).allTextContents()).reduce((sum, text) => sum + numberOf(text), 0);
  const amounts = await cells('Spend').evaluateAll((all) =>
    all.map((cell) => {
      const exact = (
        cell as unknown as { querySelector(at: string): { getAttribute(name: string): string } | null }
      ).querySelector('[data-exact]');
      return exact?.getAttribute('data-exact') ?? cell.textContent;
    }),
  );
  return {
    requests: await total('Requests'),
    errors: await total('Errors'),
    pico: amounts.reduce((sum, text) => sum + picoOf(text), 0n),
  };
}
