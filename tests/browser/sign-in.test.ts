/** Signing up, in and out in a real browser: limits, equal answers, a password that changes, the demo account's link. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, newEmail, password, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { newVisitor, type Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard();
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

async function withVisitor(test: (visitor: Visitor) => Promise<void>): Promise<void> {
  const visitor = await visitorOf(browser, gateway, null);
  await test(visitor);
  expect(visitor.problems).toEqual([]);
  await visitor.close();
}

const heading = ({ page }: Visitor, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

/** What the page says against an attempt. */
async function refusal(visitor: Visitor, email: string, guess: string): Promise<string> {
  await visitor.page.getByLabel('Email').fill(email);
  await visitor.page.getByLabel('Password').fill(guess);
  const answered = visitor.page.waitForResponse((response) => response.url().endsWith('/sign-in'));
  await visitor.page.getByRole('button', { name: 'Sign in' }).click();
  await answered;
  return (await visitor.page.getByRole('alert').textContent()) ?? '';
}

describeInBrowser('signing in', () => {
  it(
    'says the same about an unknown address and a wrong password, and after ten guesses how long to wait',
    () =>
      withVisitor(async (visitor) => {
        const { email } = await signUp(gateway, newEmail('guessed'));
        await visitor.visit('/sign-in');
        await visitor.page.getByRole('link', { name: 'Sign up', exact: true }).waitFor();
        const unknown = await refusal(visitor, 'nobody@example.test', 'wrong password');
        expect(await refusal(visitor, email, 'wrong password')).toBe(unknown);
        // The others without the page, which says the same each time.
        for (let guess = 2; guess <= 10; guess++) {
          const wrong = { email, password: `wrong password ${guess}` };
          await expect(dashboardCall(gateway, 'POST', 'sign-in', wrong)).rejects.toThrow('401');
        }
        const limited = await refusal(visitor, email, password);
        expect(limited).not.toBe(unknown);
        // The time counts down from the next frame on.
        await visitor.page
          .getByRole('alert')
          .getByText(/You can try again in \d+ s\./)
          .waitFor();
        expect(await visitor.accessibilityFaults()).toEqual([]);
      }),
    60_000,
  );

  it('leads to the page that was asked for, never to another site', () =>
    withVisitor(async (visitor) => {
      const { email } = await signUp(gateway, newEmail('next'));
      await visitor.visit('/aliases');
      await heading(visitor, 'Sign in');
      await enterWith(visitor, email);
      await heading(visitor, 'Aliases');
      const { page } = visitor;
      await visitor.context.clearCookies();
      await page.goto(`${gateway.url}/dashboard/sign-in?next=%2F%2Felsewhere.example%2F`);
      await enterWith(visitor, email);
      await heading(visitor, 'Overview');
    }));

  it('sign out ends the session, and a new password ends the others', () =>
    withVisitor(async (visitor) => {
      const member = await signUp(gateway, newEmail('changes'));
      await visitor.signIn(member.email, password);
      await heading(visitor, 'Overview');
      const { page } = visitor;
      await page.getByRole('button', { name: 'Account menu' }).click();
      await page.getByRole('link', { name: 'Account and password' }).click();
      await page.getByLabel('Current password').fill(password);
      await page.getByLabel('New password').fill('another battery staple');
      await page.getByRole('button', { name: 'Change password' }).click();
      await page.getByText('Password changed.').first().waitFor();
      await expect(dashboardCall(gateway, 'GET', 'keys', undefined, member)).rejects.toThrow('session_required');

      await page.getByRole('button', { name: 'Account menu' }).click();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await heading(visitor, 'Sign in');
      await visitor.visit('/keys');
      await heading(visitor, 'Sign in');
      await visitor.signIn(member.email, 'another battery staple');
      await heading(visitor, 'Overview');
    }));

  it('a session that ended elsewhere leads to sign-in at the next step', () =>
    withVisitor(async (visitor) => {
      await visitor.signUp(newEmail('ended'), password);
      await visitor.page.getByText('Get your first answer in three steps').waitFor();
      await visitor.page.waitForLoadState('networkidle');
      await visitor.context.clearCookies();
      await visitor.page.getByRole('link', { name: 'Aliases' }).click();
      await heading(visitor, 'Sign in');
    }));
});

describeInBrowser('the first start', () => {
  it('prints a link that opens the demo account, once', async () => {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    const demo = await startGateway({ embedded: true, config: { demo: true }, print });
    try {
      const link = /https?:\/\/\S+\/dashboard\/claim#\S+/.exec(printed)?.[0];
      expect(link).toBeDefined();
      const visitor = await newVisitor(browser, demo.url);
      await visitor.page.goto(link!);
      await heading(visitor, 'Overview');
      expect(visitor.page.url()).not.toContain('claim');
      await visitor.page.getByRole('link', { name: 'Route health' }).waitFor();
      await createFirstKey(visitor);
      await leaveWithPassword(visitor);
      const second = await newVisitor(browser, demo.url);
      await second.page.goto(link!);
      await heading(second, 'This link does not work');
      expect([...visitor.problems, ...second.problems]).toEqual([]);
    } finally {
      await demo.stop();
    }
  });
});

/** The demo account has a key of its own, whose text nobody has seen here. The new one stands in the command of every language. */
async function createFirstKey({ page }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Create another and show it here' }).click();
  const token = (await page.getByTestId('first-token').textContent())!;
  for (const language of ['curl', 'Python', 'TypeScript']) {
    await page.getByRole('tab', { name: language }).click();
    await page.getByRole('tabpanel').getByText(token).waitFor();
  }
}

/** Nobody could sign in again to an account without a password, so it is asked for one. */
async function leaveWithPassword({ page, signIn, accessibilityFaults }: Visitor): Promise<void> {
  await page.getByRole('button', { name: 'Account menu' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  const dialog = page.getByRole('dialog', { name: 'Set a password before you sign out' });
  await dialog.getByLabel('New password').fill('short');
  await dialog.getByRole('button', { name: 'Set password and sign out' }).click();
  await dialog.getByRole('alert').waitFor();
  expect(await accessibilityFaults('all but colours')).toEqual([]);
  await dialog.getByLabel('New password').fill(password);
  await dialog.getByRole('button', { name: 'Set password and sign out' }).click();
  await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
  await signIn('demo@lodestone.local', password);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
}

async function enterWith({ page }: Visitor, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describeInBrowser('where registration is closed', () => {
  it('says on both pages that sign-up is closed, and what to do', async () => {
    const closed = await startGateway();
    try {
      const visitor = await newVisitor(browser, closed.url);
      await visitor.visit('/sign-in');
      await visitor.page.getByText('Sign-up is closed on this gateway. Ask its operator for an account.').waitFor();
      expect(await visitor.page.getByRole('link', { name: 'Sign up' }).count()).toBe(0);
      await visitor.visit('/sign-up');
      await visitor.page.getByText('registration: open').waitFor();
      expect(await visitor.page.getByLabel('Password').count()).toBe(0);
      expect(visitor.problems).toEqual([]);
      await visitor.close();
    } finally {
      await closed.stop();
    }
  });
});
