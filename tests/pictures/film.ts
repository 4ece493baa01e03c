/** `npm run pictures`, the film: a request whose first route fails, the answer of the next one, and its receipt. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CDPSession } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeInBrowser, launchBrowser } from '../support/browser.js';
import { visitorOf } from '../support/dashboard.js';
import * as up from '../support/scripted-upstream.js';
import { animatedWebp, type Frame } from './animated-webp.js';
import { filmBytesMax, filmCaption, filmFile } from './record.js';
import { answerWords, question, startSeeded } from './seeded-gateway.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const size = { width: 1120, height: 700 };
const frameMs = 120;
const lastFrameMs = 4_000;
/** A page that stands still is there to be read. */
const stillMs = 2_000;
const stillFrames = 4;

class Camera {
  private readonly frames: Frame[] = [];
  private rolling = true;
  private readonly done: Promise<void>;

  constructor(private readonly devtools: CDPSession) {
    this.done = this.roll();
  }

  async stop(): Promise<Frame[]> {
    this.rolling = false;
    await this.done;
    return this.frames.map(({ picture, durationMs }, index) => {
      if (index === this.frames.length - 1) return { picture, durationMs: lastFrameMs };
      const isStill = durationMs >= stillFrames * frameMs;
      return { picture, durationMs: isStill ? Math.max(durationMs, stillMs) : durationMs };
    });
  }

  /** A picture that is the same as the one before makes that one last longer. */
  private async roll(): Promise<void> {
    while (this.rolling) {
      const from = performance.now();
      const options = { format: 'webp', quality: 62 } as const;
      const picture = Buffer.from((await this.devtools.send('Page.captureScreenshot', options)).data, 'base64');
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, frameMs - (performance.now() - from))));
      const before = this.frames.at(-1);
      // A busy machine takes its pictures more slowly; the film plays at its own speed.
      if (before?.picture.equals(picture)) before.durationMs += frameMs;
      else this.frames.push({ picture, durationMs: frameMs });
    }
  }
}

describeInBrowser('the film', () => {
  it('shows a failover with its receipt', async () => {
    const browser = await launchBrowser();
    const seeded = await startSeeded();
    let asked = 0;
    seeded.upstream.onRequest(() =>
      asked++ === 0
        ? up.json({ error: { message: 'The queue is full.' } }, { status: 503, delayMs: 600 })
        : up.sse(up.streamOf(answerWords), { delayMs: 300, gapMs: 60 }),
    );
    try {
      const visitor = await visitorOf(browser, seeded.gateway, seeded.member, { width: size.width, theme: 'light' });
      const { page } = visitor;
      await page.setViewportSize(size);
      await visitor.visit('/playground');
      await page.getByLabel('Model').fill('auto/meta/llama-3.3-70b');
      await page.getByLabel('Message').click();
      const camera = new Camera(await page.context().newCDPSession(page));
      await page.keyboard.type(question, { delay: 8 });
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByTestId('receipt').waitFor();
      await page.waitForTimeout(1_500);
      await page.getByRole('link', { name: 'See all details of this request' }).click();
      await page.getByText('Attempts').first().waitFor();
      await page.waitForTimeout(1_500);
      await page.getByText('Attempts').first().scrollIntoViewIfNeeded();
      await page.waitForTimeout(1_500);
      const film = animatedWebp(size, await camera.stop());
      expect(asked, 'the second route has answered').toBe(2);
      expect(await page.getByText('stalled').count(), 'the answer is whole').toBe(0);
      expect(visitor.problems).toEqual([]);
      expect(film.length).toBeLessThan(filmBytesMax);
      expect(readFileSync(join(root, 'README.md'), 'utf8')).toContain(`![${filmCaption}](${filmFile})`);
      writeFileSync(join(root, filmFile), film);
    } finally {
      await browser.close();
      await seeded.stop();
    }
  });
});
