/** The full text of /docs, cut at its headings, as an index that the browser loads when somebody searches. */
import MiniSearch from 'minisearch';
import { pages, pathOf } from './pages.mjs';

/** How much of a section is shown below its heading. */
const excerptMax = 140;

/** One entry for each heading: its address, its page, and the text up to the next heading. */
export function sectionsOf(rendered) {
  return pages.flatMap((page, i) => {
    const bodies = rendered[i].html.split(/(?=<h[1-6] id=")/);
    return rendered[i].headings.map(({ depth, id, text }) => ({
      href: depth === 1 ? pathOf(page) : `${pathOf(page)}#${id}`,
      page: page.title,
      text: depth === 1 ? page.title : text,
      body: plainText(bodies.find((body) => body.startsWith(`<h${depth} id="${id}"`)) ?? ''),
    }));
  });
}

function plainText(html) {
  return html
    .replace(/^<h\d[\s\S]*?<\/h\d>/, '')
    .replace(/<figcaption>[\s\S]*?<\/figcaption>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/&#x([0-9a-f]+);/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

/** docs/site/site.js loads it with the same fields. */
export function searchIndex(rendered) {
  const index = new MiniSearch({
    idField: 'href',
    fields: ['text', 'page', 'body'],
    storeFields: ['page', 'text', 'excerpt'],
  });
  index.addAll(
    sectionsOf(rendered).map((section) => ({
      ...section,
      excerpt: section.body.length > excerptMax ? `${section.body.slice(0, excerptMax)}…` : section.body,
    })),
  );
  return index.toJSON();
}
