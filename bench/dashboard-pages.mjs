/** Loads and photographs the pages of the dashboard for bench/dashboard.mjs. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const phone = 390;
/** A JPEG has at most 65,535 lines, and a phone has two for each. */
const heightMax = 12_000;
const quietMs = 250;
const timeoutMs = 60_000;

/**
 * Milliseconds from the start of a navigation until the page shows its data: a heading, and no placeholder from then on. The clock is the
 * page's own.
 */
export async function loadTime(page, url) {
  await page.goto(url);
  const time = await shownAt(page);
  const failure = await failureOf(page);
  if (failure) throw new Error(`${url} shows no data: ${failure}`);
  return time;
}

/** The text of a page that could not read its data; null where it could. */
function failureOf(page) {
  return page.evaluate(() => {
    const alert = [...document.querySelectorAll('main [role=alert]')].find((one) =>
      /could not|try again/i.test(one.textContent),
    );
    return alert?.textContent ?? null;
  });
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

export async function takePictures({ board, browser, session, pages, widths, themes, checked, folder }) {
  mkdirSync(folder, { recursive: true });
  for (const theme of themes) {
    for (const width of widths) {
      const { page, context } = await openWindow({ board, browser, session, width, theme });
      for (const path of pages) {
        await page.goto(`${board.url}/dashboard${path}`);
        await shownAt(page);
        const name = `${width}-${theme}-${path.replace(/[^\w]+/g, '_').slice(0, 40)}`;
        const height = await page.evaluate(() => document.documentElement.scrollHeight);
        await page.screenshot({
          ...{ path: join(folder, `${name}.jpg`), type: 'jpeg', quality: 70, fullPage: true },
          clip: { x: 0, y: 0, width, height: Math.min(height, heightMax) },
        });
        const failure = await failureOf(page);
        if (failure) console.log(`${name}: ${failure}`);
        for (const fault of [...(await layoutFaults(page)), ...(checked.includes(width) ? await axeFaults(page) : [])])
          console.log(`${name}: ${fault}`);
      }
      await context.close();
    }
  }
}

/** What a reader would see as broken: a page that scrolls sideways, ids over two lines, texts that are cut off without a way to read them. */
function layoutFaults(page) {
  return page.evaluate(() => {
    const faults = [];
    const root = document.documentElement;
    /** Whether an element around the text hides its end, and none says the whole text. What scrolls can be reached. */
    const isCut = (from, { right }) => {
      if (from.closest('[title], .sr-only')) return false;
      for (let box = from; box && box !== root; box = box.parentElement) {
        const { overflowX } = getComputedStyle(box);
        if (overflowX === 'auto' || overflowX === 'scroll') return false;
        if (overflowX !== 'visible' && box.clientWidth > 1 && right > box.getBoundingClientRect().right + 1)
          return true;
      }
      return false;
    };
    if (root.scrollWidth > root.clientWidth)
      faults.push(`the page is ${root.scrollWidth - root.clientWidth} px too wide`);
    const texts = document.createTreeWalker(document.querySelector('main') ?? root, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      const text = node.textContent.trim();
      const range = document.createRange();
      range.selectNodeContents(node);
      const lines = new Set(
        [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top)),
      );
      if (/^(gen|req|acct|key)-[0-9a-z]{20,}$/.test(text) && lines.size > 1) faults.push(`an id is wrapped: ${text}`);
      if (text !== '' && isCut(node.parentElement, range.getBoundingClientRect()))
        faults.push(`a text is cut off: ${text.slice(0, 80)}`);
    }
    for (const table of document.querySelectorAll('main .data-table')) {
      const { scrollWidth, clientWidth } = table.parentElement;
      if (scrollWidth > clientWidth + 1)
        faults.push(`a table scrolls sideways: ${table.caption?.textContent}, ${scrollWidth - clientWidth} px`);
    }
    return [...new Set(faults)].slice(0, 10);
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
