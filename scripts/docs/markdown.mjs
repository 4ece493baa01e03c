/** Markdown to HTML for /docs: anchors on headings, highlighted code with a copy button, tables that scroll on a phone. */
import { posix } from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { Marked } from 'marked';
import { pages, pathOf } from './pages.mjs';

const languages = { sh: bash, http, json, python, ts: typescript, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);

const names = { sh: 'Shell', http: 'HTTP', json: 'JSON', python: 'Python', ts: 'TypeScript', yaml: 'YAML' };

/** The address in examples. On the site it becomes the reader's own: docs/site/site.js. */
const exampleBase = 'http://127.0.0.1:8787';

export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** `file` is the page's path below docs/; `pictureOf` turns that of a picture into its address. Returns `{ html, headings: [{ depth, id, text }] }`. Throws where a link or a language is not known, with the page's path. */
export function renderMarkdown(source, file, pictureOf = (path) => `/docs/${path}`) {
  const headings = [];
  const marked = new Marked({ gfm: true, renderer: rendererOf(file, headings, pictureOf) });
  return { html: marked.parse(withoutComments(source)), headings };
}

function withoutComments(source) {
  return source.replace(/<!--[\s\S]*?-->\n*/g, '');
}

function rendererOf(file, headings, pictureOf) {
  return {
    heading({ tokens, depth }) {
      const html = this.parser.parseInline(tokens);
      const text = this.parser.parseInline(tokens, this.parser.textRenderer).replaceAll('`', '');
      const id = uniqueId(text, headings);
      headings.push({ depth, id, text });
      if (depth === 1) return `<h1 id="${id}">${html}</h1>\n`;
      return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${html}</a></h${depth}>\n`;
    },
    code({ text, lang = '' }) {
      const name = lang.split(' ', 1)[0];
      if (name !== '' && !(name in languages)) throw new Error(`${file}: code in "${name}" cannot be highlighted`);
      const plain = name === '' ? escapeHtml(text) : hljs.highlight(text, { language: name }).value;
      const code = plain.replaceAll(exampleBase, `<span class="base">${exampleBase}</span>`);
      const label = names[name] ?? 'Text';
      return (
        `<figure class="code"><figcaption>${label}<button type="button" class="copy">Copy</button></figcaption>` +
        `<pre tabindex="0" aria-label="${label}"><code>${code}</code></pre></figure>\n`
      );
    },
    table(token) {
      const head = token.header.map((cell) => `<th scope="col">${this.parser.parseInline(cell.tokens)}</th>`).join('');
      const rows = token.rows.map(
        (row) => `<tr>${row.map((cell) => `<td>${this.parser.parseInline(cell.tokens)}</td>`).join('')}</tr>`,
      );
      return (
        `<div class="table" tabindex="0" role="region" aria-label="${tableName(headings)}"><table>` +
        `<thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>\n`
      );
    },
    link({ href, tokens }) {
      return `<a href="${escapeHtml(hrefOf(href, file))}">${this.parser.parseInline(tokens)}</a>`;
    },
    image({ href, text }) {
      const address = pictureOf(posix.join(posix.dirname(file), href));
      return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}">`;
    },
    html() {
      throw new Error(`${file}: pages are plain Markdown, without HTML`);
    },
  };
}

let tableCount = 0;

/** Regions need names that differ (WCAG landmarks). */
function tableName(headings) {
  tableCount += 1;
  return escapeHtml(`Table ${tableCount}: ${headings.at(-1)?.text ?? ''}`);
}

function uniqueId(text, headings) {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  let id = base;
  for (let count = 2; headings.some((heading) => heading.id === id); count++) id = `${base}-${count}`;
  return id;
}

/** Pages link one another by relative path, so that the links also work in the repository. */
function hrefOf(href, file) {
  if (/^(https?:|#|\/)/.test(href)) return href;
  const [name, anchor] = href.split('#');
  const target = posix.join(posix.dirname(file), name);
  const page = pages.find((one) => one.file === target);
  if (!page) throw new Error(`${file} links ${href}, which is no page of /docs`);
  return `${pathOf(page)}${anchor ? `#${anchor}` : ''}`;
}
