/** `npm run pictures`: takes every picture, and writes none of them where a page shows an error or not what its caption promises. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { launchBrowser } from '../support/browser.js';
import { visitorOf } from '../support/dashboard.js';
import { readPage } from './read-page.js';
import { bytesMax, hashOf, type PictureRecord, recordFile, shownFaults } from './record.js';
import { question, startSeeded } from './seeded-gateway.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const laptop = { width: 1280, height: 800 };

interface Picture extends Pick<PictureRecord, 'file' | 'page' | 'caption' | 'shows'> {
  /** Of the window, where it is not a laptop's. */
  height?: number;
  /** What a person does on the page first. */
  act?: (page: Page) => Promise<void>;
}

const pictures: Picture[] = [
  {
    file: 'dashboard-overview.jpg',
    page: '/',
    caption: 'Overview: spend, requests, latency, grid intensity, and a map of where requests were served',
    shows: ['Spend', 'Requests and errors', 'First byte', 'Grid intensity', 'Where requests were served'],
    height: 1320,
  },
  {
    file: 'dashboard-routing-policy.jpg',
    page: '/routing-policy',
    caption: 'Routing policy: each gate with the routes it leaves',
    shows: ['Routing policy', 'leaves 4 of 6 routes, removes 2', 'leaves 3 of 6 routes, removes 1'],
    async act(page) {
      await page.getByLabel('Model').selectOption('meta/llama-3.3-70b');
      await page.getByText('leaves 3 of 6 routes, removes 1').waitFor();
    },
  },
  {
    file: 'dashboard-playground.jpg',
    page: '/playground',
    caption: 'Playground: a streamed answer with its receipt, cost and timing',
    shows: [question, 'Because the mix of power plants does.', 'Cost', 'First byte', 'northwind'],
    async act(page) {
      await page.getByLabel('Model').fill('auto/meta/llama-3.3-70b');
      await page.getByLabel('Message').fill(question);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByTestId('receipt').waitFor();
    },
  },
];

it('takes the pictures of the README', async () => {
  const browser = await launchBrowser();
  const seeded = await startSeeded();
  const taken: { record: PictureRecord; bytes: Buffer }[] = [];
  const faults: string[] = [];
  try {
    const visitor = await visitorOf(browser, seeded.gateway, seeded.member, { width: laptop.width, theme: 'light' });
    for (const { act, height = laptop.height, ...picture } of pictures) {
      await visitor.page.setViewportSize({ ...laptop, height });
      await visitor.visit(picture.page);
      await act?.(visitor.page);
      // Charts draw themselves after their data is there.
      await visitor.page.waitForTimeout(1_500);
      const bytes = await visitor.page.screenshot({ type: 'jpeg', quality: 82 });
      const record = { ...picture, ...(await readPage(visitor.page)), bytes: bytes.length, sha256: hashOf(bytes) };
      faults.push(...shownFaults(record).map((fault) => `${picture.file} ${fault}`));
      if (bytes.length > bytesMax) faults.push(`${picture.file} has ${bytes.length} bytes`);
      taken.push({ record, bytes });
    }
    faults.push(...visitor.problems);
  } finally {
    await browser.close();
    await seeded.stop();
  }
  expect(faults, 'no picture is written').toEqual([]);
  mkdirSync(join(root, 'docs/images'), { recursive: true });
  for (const { record, bytes } of taken) writeFileSync(join(root, 'docs/images', record.file), bytes);
  writeFileSync(
    join(root, recordFile),
    `${JSON.stringify(
      taken.map(({ record }) => record),
      null,
      2,
    )}\n`,
  );
  for (const { file, caption } of pictures) {
    expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`![${caption}](docs/images/${file})`);
  }
});
