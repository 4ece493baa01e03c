/** Reads what a page shows: its errors, and the text within the window, which is what a picture of it has. */
import type { Page } from 'playwright-core';
import type { Shown } from './record.js';

export async function readPage(page: Page): Promise<Shown> {
  const alerts = await page.getByRole('alert').filter({ visible: true }).allInnerTexts();
  return {
    alerts: alerts.map((alert) => alert.replace(/\s+/g, ' ').trim()).filter((alert) => alert !== ''),
    text: (await page.evaluate(linesInWindow)) as string[],
  };
}

/** One line a block, in the order of the document. */
const linesInWindow = `(() => {
  const lines = new Map();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    if (!node.textContent.trim() || !node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { top, bottom, width, height } = range.getBoundingClientRect();
    if (width < 2 || height < 2 || top < 0 || bottom > innerHeight) continue;
    let block = node.parentElement;
    while (getComputedStyle(block).display.startsWith('inline')) block = block.parentElement;
    lines.set(block, (lines.get(block) ?? '') + node.textContent);
  }
  return [...lines.values()].map((line) => line.replace(/\\s+/g, ' ').trim());
})()`;
