import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../scripts/docs/markdown.mjs';
import { pages, pathOf, referencePath } from '../../scripts/docs/pages.mjs';
import { startGateway, type TestGateway } from '../support/gateway.js';

describe('Markdown', () => {
  it('gives headings ids of their own, and links pages by their place on the site', () => {
    const { html, headings } = renderMarkdown(
      '# A `b`\n\n## Same\n\n## Same\n\n[x](errors.md#in-a-stream)',
      'guide/x.md',
    );
    expect(headings.map(({ id }) => id)).toEqual(['a-b', 'same', 'same-2']);
    expect(html).toContain('href="/docs/errors#in-a-stream"');
  });

  it('writes code as text, whatever it holds', () => {
    const { html } = renderMarkdown('```\n<script>alert(1)</script>\n```\n\n```json\n{"a": "<b>"}\n```', 'guide/x.md');
    expect(html).not.toMatch(/<script|<b>/);
  });

  it('shows a picture from its place on the site', () => {
    const { html } = renderMarkdown('![A "plot"](plot.svg)', 'guide/x.md', (path) => `/assets/${path}`);
    expect(html).toContain('<img src="/assets/guide/plot.svg" alt="A &#34;plot&#34;">');
  });

  it.each([
    ['a link to no page', '[x](nothing.md)', 'nothing.md'],
    ['HTML', 'a <b>b</b>', 'without HTML'],
    ['a language that it cannot highlight', '```cobol\nMOVE\n```', 'cobol'],
  ])('refuses %s', (_, source, says) => {
    expect(() => renderMarkdown(source, 'guide/x.md')).toThrow(says);
  });
});

describe('/docs over HTTP', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      config: { server: { trusted_proxies: ['127.0.0.1/32'], country_header: 'x-country' } },
    });
  });
  afterAll(() => gateway?.stop());
  const get = (path: string, headers = {}) => gateway.call('GET', path, undefined, { key: null, headers });

  it.each([...pages.map(pathOf), referencePath])('%s is a page without inline scripts or styles', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
    // Nothing is loaded from elsewhere; a link may lead there, over TLS.
    expect(answer.text).not.toMatch(/src="(https?:)?\/\/|<link[^>]*href="(https?:)?\/\/|href="(http:)?\/\//);
    const policy = String(answer.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'; script-src 'self'; ");
    expect(policy.includes('unsafe-inline')).toBe(path === referencePath);
    expect((await get(path, { 'if-none-match': answer.headers.etag })).status).toBe(304);
  });

  // The layout and the colours are looked at in a browser, on some of the pages: tests/browser/docs.test.ts.
  it.each(pages.map(pathOf))(
    '%s has headings in order, ids of its own, and scrolls what is wide in a box with a name',
    async (path) => {
      const { text } = await get(path);
      const main = text.slice(text.indexOf('<main'));
      const levels = [...main.matchAll(/<h([1-6])\b/g)].map(([, level]) => Number(level));
      expect([levels[0], levels.filter((level) => level === 1).length]).toEqual([1, 1]);
      expect(levels.filter((level, index) => level > (levels[index - 1] ?? 0) + 1)).toEqual([]);
      const ids = [...text.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
      expect(ids).toEqual([...new Set(ids)]);
      const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
      expect(count(/tabindex="0" role="region" aria-label="[^"]+"><table/g)).toBe(count(/<table/g));
      expect(count(/<pre tabindex="0" aria-label="[^"]+"/g)).toBe(count(/<pre/g));
      expect(count(/<img [^>]*alt="[^"]+"/g)).toBe(count(/<img/g));
      for (const landmark of ['<html lang="en">', '<main', '<nav class="pages"', '<title>'])
        expect(text).toContain(landmark);
    },
  );

  it('keeps assets for a year and sends the large ones compressed', async () => {
    const { text } = await get(referencePath);
    const script = /src="(\/docs\/assets\/scalar-[^"]+)"/.exec(text)![1]!;
    const answer = await get(script, { 'accept-encoding': 'gzip, br' });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'br',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
    });
    expect(Number(answer.headers['content-length'])).toBeLessThan(1_200_000);
  });

  it.each(['/docs/nothing', '/docs/../package.json', '/docs/assets/', '/docs/site.json'])(
    '404 for %s',
    async (path) => {
      expect((await get(path)).json.error.code).toBe('not_found');
    },
  );

  it('is behind the checks that every path is behind', async () => {
    for (const path of ['/docs', referencePath, '/openapi.json']) {
      expect((await get(path, { 'x-country': 'KP' })).status, path).toBe(451);
      expect((await get(path, { 'x-country': 'DE' })).status, path).toBe(200);
    }
  });
});
