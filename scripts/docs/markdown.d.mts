/** The types of markdown.mjs, for its test. */
export interface Heading {
  depth: number;
  id: string;
  text: string;
}

export function escapeHtml(text: string): string;
export function renderMarkdown(
  source: string,
  file: string,
  pictureOf?: (path: string) => string,
): { html: string; headings: Heading[] };
