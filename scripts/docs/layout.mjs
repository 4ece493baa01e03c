/** The frame of every page: header, navigation, content, what is on this page, previous and next. */
import { escapeHtml } from './markdown.mjs';
import { groups, pages, pathOf, referencePath } from './pages.mjs';

const mark =
  '<svg class="mark" aria-hidden="true" viewBox="0 0 32 32"><rect width="32" height="32" rx="8"/><path d="M16 5.5 20 16l-4 10.5L12 16z"/><circle cx="16" cy="16" r="3.5"/></svg>';

function head(title, assets, more = '') {
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" type="image/svg+xml" href="${assets['favicon.svg']}">
<link rel="preload" as="font" type="font/woff2" href="${assets['inter.woff2']}" crossorigin>
<link rel="stylesheet" href="${assets['site.css']}">
<script src="${assets['theme.js']}"></script>
${more}`;
}

function header(current) {
  const link = (href, name) => `<a href="${href}"${href === current ? ' aria-current="page"' : ''}>${name}</a>`;
  // The reference has a banner of its own on a phone, and a page has one.
  const [tag, places] =
    current === referencePath ? ['nav aria-label="Site"', 'div'] : ['header', 'nav aria-label="Site"'];
  return `<a class="skip" href="#content">Skip to the content</a>
<${tag} class="top">
<a class="brand" href="/docs">${mark}<span>Lodestone <span class="quiet">Docs</span></span></a>
<${places} class="places">${link(referencePath, 'API reference')}${link('/status', 'Status')}<a href="/dashboard">Dashboard</a></${places.split(' ')[0]}>
<button type="button" class="theme" aria-label="Switch between light and dark"><svg aria-hidden="true" viewBox="0 0 20 20"><path d="M10 2a8 8 0 1 0 0 16z"/><circle cx="10" cy="10" r="7.25"/></svg></button>
<button type="button" class="menu" aria-expanded="false" aria-controls="guide-pages">Menu</button>
</${tag.split(' ')[0]}>`;
}

function navigation(current) {
  const item = (page) => {
    const href = pathOf(page);
    return `<li><a href="${href}"${page === current ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`;
  };
  const lists = groups.map(({ title, pages }) => `<h2>${escapeHtml(title)}</h2><ul>${pages.map(item).join('')}</ul>`);
  return `<nav class="pages" id="guide-pages" aria-label="Guide">
<form class="search" role="search"><label for="search">Search</label><input id="search" type="search" placeholder="Press / to search" autocomplete="off" spellcheck="false" aria-describedby="search-count"><p id="search-count" class="count" role="status"></p><ul class="found"></ul></form>
${lists.join('')}
<h2>Reference</h2><ul><li><a href="${referencePath}">API reference</a></li><li><a href="/openapi.json">openapi.json</a></li><li><a href="/dashboard">Dashboard</a></li></ul>
</nav>`;
}

function onThisPage(headings) {
  const items = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (items.length < 2) return '';
  const links = items.map(
    ({ depth, id, text }) => `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="here" aria-labelledby="here"><h2 id="here">On this page</h2><ul>${links.join('')}</ul></nav>`;
}

function neighbours(page) {
  const at = pages.indexOf(page);
  const link = (other, rel, word) =>
    other
      ? `<a rel="${rel}" class="${rel}" href="${pathOf(other)}"><span>${word}</span>${escapeHtml(other.title)}</a>`
      : '';
  return `<nav class="neighbours" aria-label="Previous and next page">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`;
}

/** `page.script` is the name of an asset that only this page needs. */
export function guidePage(page, { html, headings }, assets, changed) {
  const title = page.slug === '' ? 'Lodestone Docs' : `${page.title} · Lodestone Docs`;
  const own = page.script ? `\n<script src="${assets[page.script]}" defer></script>` : '';
  return `<!doctype html>
<html lang="en">
<head>
${head(title, assets, `<script src="${assets['site.js']}" data-index="${assets['search.json']}" data-search="${assets['minisearch.js']}" defer></script>${own}`)}
</head>
<body>
${header()}
<div class="frame">
${navigation(page)}
<main id="content" tabindex="-1">
<article>
${html}</article>
${changed ? `<p class="changed">Last changed on <time datetime="${changed}">${changed}</time></p>` : ''}
${neighbours(page)}
</main>
${onThisPage(headings)}
</div>
</body>
</html>
`;
}

/** The layout of /status. The gateway puts the text in, because it changes all the time. */
export function statusTemplate(assets) {
  return `<!doctype html>
<html lang="en">
<head>
${head('Status · Lodestone', assets, `<script src="${assets['site.js']}" defer></script>`)}
</head>
<body class="status">
${header('/status')}
<main id="content" tabindex="-1">
<article>
<!--status-->
</article>
</main>
</body>
</html>
`;
}

/** For every address that leads nowhere; the paths in it are whole, so it can be shown anywhere. */
export function notFoundPage(assets) {
  const article = `<h1 id="page-not-found">Page not found</h1>
<p>No page has this address. Check it, search with <kbd>/</kbd>, or go on from here:</p>
<ul><li><a href="/dashboard">Dashboard</a>: keys, usage, models and the playground</li><li><a href="/docs">First request</a>: the start of the guide</li><li><a href="${referencePath}">API reference</a></li></ul>
`;
  return guidePage({ slug: '404', title: 'Page not found' }, { html: article, headings: [] }, assets).replace(
    /<nav class="neighbours"[\s\S]*?<\/nav>/,
    '',
  );
}

/** The bundle of the reference brings its own navigation. */
export function referencePage(assets) {
  const scripts = `<script src="${assets['site.js']}" defer></script>
<script src="${assets['scalar.js']}" defer></script>
<script src="${assets['reference.js']}" defer></script>`;
  return `<!doctype html>
<html lang="en">
<head>
${head('API reference · Lodestone Docs', assets, scripts)}
</head>
<body class="reference">
${header(referencePath)}
<noscript><p>The reference needs JavaScript. What it shows is in <a href="/openapi.json">openapi.json</a>.</p></noscript>
<div id="content" tabindex="-1"></div>
</body>
</html>
`;
}
