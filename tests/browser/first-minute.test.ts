/**
 * The first minute: from the link that the first start prints, or from signing up, to a request by the command that the page shows, its tick,
 * its receipt and its proof. Counts the clicks, on a desktop and on a phone.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, password, visitorOf } from '../support/dashboard.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { measuredTime } from '../support/measured-time.js';
import { phone, type Visitor } from '../support/visitor.js';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const run = promisify(execFile);
const tickedMs = 2_000;

let browser: Browser;
let gateway: TestGateway;
let printed = '';

beforeAll(async () => {
  browser = await launchBrowser();
  const print = (text: string) => {
    printed += text;
  };
  gateway = await startGateway({
    embedded: true,
    config: { demo: true, registration: 'open', welcome_credit_usd: '5.00' },
    print,
  });
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

interface Minute {
  clicks: number;
  tickedAfterMs: number;
  ms: number;
}

/** From the first page of a new account on. */
async function firstMinute({ page }: Visitor, startedAtMs: number, clicksBefore: number): Promise<Minute> {
  let clicks = clicksBefore;
  const click = async (role: 'button' | 'link', name: RegExp | string) => {
    await page.getByRole(role, { name }).first().click();
    clicks++;
  };
  await click('button', /Create API key|Create another/);
  await page.getByTestId('first-token').waitFor();
  await click('button', 'Copy curl command');
  const command = (await page.evaluate('navigator.clipboard.readText()')) as string;
  const { stdout } = await run('sh', ['-c', `${command} -sS`]);
  const answeredAtMs = performance.now();
  expect(JSON.parse(stdout).choices[0].message.content).toContain('Hello, Lodestone');
  await page.getByText('Your first request has arrived').waitFor();
  const tickedAfterMs = performance.now() - answeredAtMs;
  await click('link', 'Read the receipt');
  await page.getByTestId('receipt').waitFor();
  await click('button', 'Check it here');
  await page.getByText('The proof holds').waitFor();
  return { clicks, tickedAfterMs, ms: performance.now() - startedAtMs };
}

function expectShort({ clicks, tickedAfterMs, ms }: Minute, clicksMax: number): void {
  console.info(`${clicks} clicks, ticked after ${Math.round(tickedAfterMs)} ms, ${(ms / 1000).toFixed(1)} s in all`);
  expect(clicks).toBeLessThanOrEqual(clicksMax);
  expect(tickedAfterMs, measuredTime).toBeLessThan(tickedMs);
  expect(ms, measuredTime).toBeLessThan(60_000);
}

describeInBrowser('the first minute', () => {
  it('on a desktop, from the printed link: four clicks', async () => {
    const [link] = /http\S+\/dashboard\/claim#[\w-]{43}/.exec(printed) ?? [];
    const visitor = await visitorOf(browser, gateway, null);
    const startedAtMs = performance.now();
    await visitor.page.goto(link!);
    expectShort(await firstMinute(visitor, startedAtMs, 0), 4);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });

  it('on a phone, from signing up: five clicks', async () => {
    const visitor = await visitorOf(browser, gateway, null, { width: phone });
    const { page } = visitor;
    const startedAtMs = performance.now();
    await visitor.signUp(newEmail('new'), password);
    await page.getByRole('heading', { name: 'Get your first answer in three steps' }).waitFor();
    const { scrollWidth, clientWidth } = (await page.evaluate(
      '({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth })',
    )) as Record<'scrollWidth' | 'clientWidth', number>;
    expect(scrollWidth, 'nothing scrolls sideways').toBeLessThanOrEqual(clientWidth);
    expectShort(await firstMinute(visitor, startedAtMs, 1), 5);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });
});
