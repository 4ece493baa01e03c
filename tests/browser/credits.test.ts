/** Buying credit, and the low-balance notice, in a real browser. The page claims only what the gateway has confirmed. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { deliver } from '../api/payments/bench.js';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { type Member, newEmail, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import { completed, type ScriptedStripe, startStripe } from '../support/scripted-stripe.js';
import { desktop, phone, type Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let stripe: ScriptedStripe;
let visitor: Visitor;

beforeAll(async () => {
  browser = await launchBrowser();
  stripe = await startStripe();
  gateway = await startDashboard({ payments: stripe.config });
});
afterEach(async () => {
  // The one address elsewhere that a page leads to.
  expect(visitor.problems.filter((problem) => !problem.startsWith(`request to ${stripe.url}/`))).toEqual([]);
  await visitor.close();
});
afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  await stripe?.stop();
});

const press = (name: string) => visitor.page.getByRole('button', { name, exact: true }).click();
const shot = async (name: string) => {
  const folder = process.env.LODESTONE_SCREENSHOTS;
  if (folder) await visitor.page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
};

async function newMember(balanceChange?: string): Promise<Member> {
  const member = await signUp(gateway, newEmail('buyer'));
  if (balanceChange)
    await gateway.admin('POST', `/accounts/${member.accountId}/credits`, { amount_usd: balanceChange });
  return member;
}

describeInBrowser('buying credit', () => {
  it('goes to the processor and back, says that it is being confirmed, and that it is credited only when it is', async () => {
    const member = await newMember();
    visitor = await visitorOf(browser, gateway, member);
    await visitor.visit('/credits');
    await press('$50');
    expect(await visitor.page.getByLabel('Amount').inputValue()).toBe('50');
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await shot('credits-form');
    await press('Add credit');
    await visitor.page.getByRole('heading', { name: 'Pay' }).waitFor();
    const checkoutId = new URL(visitor.page.url()).pathname.split('/').at(-1);
    await visitor.page.getByRole('link', { name: 'Pay now' }).click();
    await visitor.page.getByText('The payment is being confirmed.').waitFor();
    await visitor.page.getByText('$20.00').first().waitFor();
    await shot('credits-confirming');
    const event = completed(member.accountId, { id: checkoutId, amount_total: 5000, payment_intent: 'pi_browser' });
    expect((await deliver(gateway, event)).status).toBe(200);
    await visitor.page.getByText('Payment received: $50.00 was added to your balance.').waitFor();
    await visitor.page.getByRole('cell', { name: 'Stripe payment pi_browser' }).waitFor();
    await visitor.page.getByText('$70.00').first().waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await shot('credits-received');
  });

  it('that is cancelled says that nothing was charged; an amount out of bounds is told at its field', async () => {
    visitor = await visitorOf(browser, gateway, await newMember());
    await visitor.visit('/credits?payment=cancelled');
    await visitor.page.getByText('The payment was cancelled. Nothing was charged.').waitFor();
    await visitor.page.getByLabel('Amount').fill('1');
    await press('Add credit');
    await visitor.page.getByText('Enter an amount in whole cents, from $5.00 to $10,000.00.').waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
  });

  it('where the processor does not answer says so, and can be tried again', async () => {
    visitor = await visitorOf(browser, gateway, await newMember());
    await visitor.visit('/credits');
    stripe.failWith = { status: 500, error: { type: 'api_error', message: 'boom' } };
    await press('Add credit');
    await visitor.page.getByText('The payment processor could not open a checkout. Nothing was charged.').waitFor();
    stripe.failWith = null;
    await press('Add credit');
    await visitor.page.getByRole('heading', { name: 'Pay' }).waitFor();
  });
});

describeInBrowser('the banner at 1440 and at 390 px', () => {
  /** A theme changes colours and nothing else, and they are the same at every width. */
  async function expectSound(name: string): Promise<void> {
    const { page } = visitor;
    for (const width of [phone, desktop]) {
      await visitor.showAt(width);
      await expect.poll(() => page.evaluate('innerWidth')).toBe(width);
      expect(await visitor.accessibilityFaults(width === phone ? 'all but colours' : undefined)).toEqual([]);
      expect(await page.evaluate(overflow)).toBe(0);
      await shot(`${name}-${width}-light`);
      await page.emulateMedia({ colorScheme: 'dark' });
      if (width === desktop) expect(await visitor.accessibilityFaults('colours')).toEqual([]);
      await shot(`${name}-${width}-dark`);
      await page.emulateMedia({ colorScheme: 'light' });
    }
  }
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

  it('tells of a low balance and of an exhausted one on every page, light and dark', async () => {
    const member = await newMember('-19.25');
    visitor = await visitorOf(browser, gateway, member);
    await visitor.visit('/keys');
    const low = visitor.page.getByRole('status').filter({ hasText: 'Your balance is $0.75, below $1.00.' });
    await low.waitFor();
    await expectSound('banner-low');
    await gateway.admin('POST', `/accounts/${member.accountId}/credits`, { amount_usd: '-1' });
    await visitor.visit('/');
    const alert = visitor.page
      .getByRole('alert')
      .filter({ hasText: 'Your balance is −$0.25. All requests are refused' });
    await alert.waitFor();
    await expectSound('banner-exhausted');
    await alert.getByRole('link', { name: 'Add credit' }).click();
    await visitor.page.getByRole('heading', { level: 1, name: 'Credits' }).waitFor();
    await visitor.page.getByLabel('Amount').waitFor();
    await expectSound('credits');
  });
});

describeInBrowser('the threshold', () => {
  it('is the account’s own: raised above the balance it tells, at 0 it does not', async () => {
    visitor = await visitorOf(browser, gateway, await newMember());
    await visitor.visit('/credits');
    const save = async (amount: string) => {
      await visitor.page.getByLabel('Notify below').fill(amount);
      await press('Save notice');
    };
    await save('30');
    const banner = visitor.page.getByText('Your balance is $20.00, below $30.00.');
    await banner.waitFor();
    await save('0');
    await banner.waitFor({ state: 'detached' });
    await save('-3');
    await visitor.page.getByText('must be an amount like "5.00"').waitFor();
  });
});
