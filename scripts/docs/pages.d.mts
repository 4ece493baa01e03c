/** The types of pages.mjs, for the tests of the site. */
export interface Page {
  slug: string;
  /** Below docs/. */
  file: string;
  title: string;
}

export const groups: { title: string; pages: Page[] }[];
export const pages: Page[];
export const referencePath: string;
export function pathOf(page: Page): string;
