/** Builds /docs into dist/docs: pages from docs/guide and docs/behaviour, assets under names that change with their content, and the list that the server reads. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { changeDates } from './change-dates.mjs';
import { guidePage, notFoundPage, referencePage, statusTemplate } from './layout.mjs';
import { renderMarkdown } from './markdown.mjs';
import { pages, pathOf, referencePath } from './pages.mjs';
import { scalarBundle } from './scalar.mjs';
import { searchIndex, sectionsOf } from './search-index.mjs';

const types = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
};

/** The look is the dashboard's, so it is kept in one place. */
function dashboardFile(name) {
  return name === 'tokens.css' ? `dashboard/src/styles/${name}` : `dashboard/public/${name}`;
}

/** Returns the paths, from the root, of all that it made. */
export async function buildDocs(root) {
  const site = new Site(join(root, 'dist', 'docs'));
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const pictureOf = (path) => site.asset(basename(path), read(`docs/${path}`));
  const rendered = pages.map((page) => renderMarkdown(read(`docs/${page.file}`), page.file, pictureOf));
  checkAnchors(rendered);
  const font = createRequire(import.meta.url).resolve('@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');
  const miniSearch = join(dirname(createRequire(import.meta.url).resolve('minisearch')), '..', 'es', 'index.js');
  const assets = {
    'inter.woff2': site.asset('inter.woff2', readFileSync(font)),
    'theme.js': site.asset('theme.js', read(dashboardFile('theme.js'))),
    'favicon.svg': site.asset('favicon.svg', read(dashboardFile('favicon.svg'))),
    'site.js': site.asset('site.js', read('docs/site/site.js')),
    'reference.js': site.asset('reference.js', read('docs/site/reference.js')),
    'changes.js': site.asset('changes.js', read('docs/site/changes.js')),
    'search.json': site.asset('search.json', JSON.stringify(searchIndex(rendered))),
    'minisearch.js': site.asset('minisearch.js', readFileSync(miniSearch, 'utf8')),
    'scalar.js': site.asset('scalar.js', await scalarBundle()),
  };
  const css =
    read(dashboardFile('tokens.css')) +
    ['text', 'frame', 'status', 'narrow', 'reference'].map((name) => read(`docs/site/${name}.css`)).join('');
  assets['site.css'] = site.asset('site.css', css.replaceAll('INTER_WOFF2', assets['inter.woff2']));
  const dates = changeDates(root);
  for (const [i, page] of pages.entries()) {
    site.page(pathOf(page), guidePage(page, rendered[i], assets, dates.get(`docs/${page.file}`)), 'guide');
  }
  site.page('/docs/404', notFoundPage(assets), 'guide');
  site.page(referencePath, referencePage(assets), 'reference');
  site.template('status.html', statusTemplate(assets));
  return site.finish();
}

/** A link to a heading that is not there fails the build. */
function checkAnchors(rendered) {
  const known = new Set(sectionsOf(rendered).map(({ href }) => href));
  const paths = new Set(pages.map(pathOf));
  rendered.forEach(({ html }, i) => {
    for (const [, href] of html.matchAll(/href="([^"]*#[^"]+)"/g)) {
      const full = href.startsWith('#') ? pathOf(pages[i]) + href : href;
      if (paths.has(full.split('#')[0]) && !known.has(full))
        throw new Error(`${pages[i].file} links ${href}: no such heading`);
    }
  });
}

class Site {
  entries = [];
  files = [];

  constructor(folder) {
    this.folder = folder;
  }

  /** Its path; the name holds a hash, so a client may keep it for ever. */
  asset(name, content) {
    const [stem, ending] = name.split('.');
    const file = `assets/${stem}-${hashOf(content).slice(0, 10)}.${ending}`;
    this.#add(`/docs/${file}`, file, content, {});
    return `/docs/${file}`;
  }

  page(path, html, page) {
    this.#add(path, `${path.slice('/docs'.length + 1) || 'index'}.html`, html, { page });
  }

  /** A page that the gateway fills in. It is no page of /docs itself. */
  template(file, html) {
    this.#write(file, html);
  }

  finish() {
    this.#write('site.json', JSON.stringify(this.entries));
    return this.files.map((file) => join('dist', 'docs', file));
  }

  #add(path, file, content, more) {
    const ending = file.split('.').at(-1);
    const compressed = ending !== 'woff2';
    const etag = `"${hashOf(content).slice(0, 22)}"`;
    this.entries.push({ path, file, contentType: types[ending], etag, ...more, compressed });
    // An asset's name tells its content, so one that is there is right; this saves compressing the large bundle again.
    const isThere = more.page === undefined && existsSync(join(this.folder, compressed ? `${file}.gz` : file));
    const write = (name, make) => (isThere ? this.files.push(name) : this.#write(name, make()));
    if (!compressed) return write(file, () => content);
    // Only compressed: the plain text of all of it would be a third of the package, for clients that read no compression.
    write(`${file}.br`, () => brotli(content));
    write(`${file}.gz`, () => gzipSync(content, { level: 9 }));
  }

  #write(file, content) {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    this.files.push(file);
  }
}

function hashOf(content) {
  return createHash('sha256').update(content).digest('base64url').replaceAll(/[-_]/g, '0');
}

function brotli(content) {
  return brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
}
