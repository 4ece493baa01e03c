/** Loads and photographs the pages of the dashboard for bench/dashboard.mjs. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const phone = 390;
const quietMs = 250;
const timeoutMs = 60_000;

/**
 * Milliseconds from the start of a navigation until the page shows its data: a heading, and no placeholder from then on. The clock is the
 * page's own.
 */
export async function loadTime(page, url) {
  await page.goto(url);
  return shownAt(page);
}

export async function openWindow({ board, browser, session, width, theme }) {
  const context = await browser.newContext({
    viewport: { width, height: width === phone ? 844 : 900 },
    colorScheme: theme,
    locale: 'en-GB',
    reducedMotion: 'reduce',
    ...(width === phone && { hasTouch: true, isMobile: true, deviceScaleFactor: 2 }),
  });
  const cookies = session.split('; ').map((text) => {
    const at = text.indexOf('=');
    return { name: text.slice(0, at), value: text.slice(at + 1), url: board.url };
  });
  await context.addCookies(cookies);
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  await page.addInitScript(watchPage);
  return { page, context };
}

/** Runs in the page: remembers since when there is a heading and no placeholder. */
function watchPage() {
  const look = () => {
    const isThere = document.querySelector('h1') && !document.querySelector('.animate-shimmer');
    if (!isThere) window.shownSince = undefined;
    else window.shownSince ??= performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

async function shownAt(page) {
  const handle = await page.waitForFunction(
    (quiet) => (window.shownSince && performance.now() - window.shownSince > quiet ? window.shownSince : false),
    quietMs,
  );
  return handle.jsonValue();
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function takePictures({ board, browser, session, pages, widths, folder }) {
  mkdirSync(folder, { recursive: true });
  for (const theme of ['light', 'dark']) {
    for (const width of widths) {
      const { page, context } = await openWindow({ board, browser, session, width, theme });
      for (const path of pages) {
        await page.goto(`${board.url}/dashboard${path}`);
        await shownAt(page);
        const name = `${width}-${theme}-${path.replace(/[^\w]+/g, '_').slice(0, 40)}`;
        await page.screenshot({
          path: join(folder, `${name}.jpg`),
          type: 'jpeg',
          quality: 70,
          fullPage: true,
          clip: undefined,
        });
        for (const fault of [...(await overflowOf(page)), ...(await axeFaults(page))]) console.log(`${name}: ${fault}`);
      }
      await context.close();
    }
  }
}

/** Texts that are cut off without a sign of it, and pages that scroll sideways. */
function overflowOf(page) {
  return page.evaluate(() => {
    const root = document.documentElement;
    return root.scrollWidth > root.clientWidth
      ? [`the page is ${root.scrollWidth - root.clientWidth} px too wide`]
      : [];
  });
}

async function axeFaults(page) {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(
      { exclude: ['tbody tr:nth-child(n+9)'] },
      { resultTypes: ['violations'] },
    );
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  });
}
