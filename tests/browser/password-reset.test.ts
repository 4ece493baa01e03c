/** A forgotten password in a real browser: the mail, the link, the new password; and what the page says without mail. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, password, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.js';
import type { Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let smtp: SmtpServer;

beforeAll(async () => {
  browser = await launchBrowser();
  smtp = await startSmtpServer();
  gateway = await startDashboard({
    mail: { smtp_url: `smtp://127.0.0.1:${smtp.port}`, from: 'no-reply@example.test' },
  });
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  await smtp?.close();
});

const heading = ({ page }: Visitor, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

describeInBrowser('a forgotten password', () => {
  it('is replaced with the link of a mail', async () => {
    const { email } = await signUp(gateway, newEmail('forgets'));
    const visitor = await visitorOf(browser, gateway, null);
    const { page } = visitor;
    await visitor.visit('/sign-in');
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await heading(visitor, 'Forgot your password?');
    await page.getByLabel('Email').fill(email);
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText('a link is on its way').waitFor();

    const [mail] = await smtp.mailsTo(email, 1);
    await page.goto(/http\S+#\S+/.exec(mail!.text)![0]);
    await heading(visitor, 'Choose a new password');
    expect(page.url(), 'the token does not stay in the address').not.toContain('#');
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').getByText('at least 8 characters').waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await page.getByLabel('New password').fill('another battery staple');
    await page.getByRole('button', { name: 'Change password' }).click();
    await heading(visitor, 'Password changed');
    await page.getByRole('link', { name: 'Sign in' }).click();
    await visitor.signIn(email, 'another battery staple');
    await heading(visitor, 'Overview');

    const second = await visitorOf(browser, gateway, null);
    await second.page.goto(/http\S+#\S+/.exec(mail!.text)![0]);
    await second.page.getByLabel('New password').fill(password);
    await second.page.getByRole('button', { name: 'Change password' }).click();
    await heading(second, 'This link does not work');
    await second.page.getByRole('link', { name: 'Ask for a new link' }).click();
    await heading(second, 'Forgot your password?');
    // The browser itself reports the two refusals that were meant to happen.
    const unexpected = [...visitor.problems, ...second.problems].filter((problem) => !/\b40[01]\b/.test(problem));
    expect(unexpected).toEqual([]);
  });

  it('is reset by the operator where the gateway sends no mail, and the page says how', async () => {
    const silent = await startDashboard();
    try {
      const visitor = await visitorOf(browser, silent, null);
      await visitor.visit('/sign-in');
      await visitor.page.getByRole('link', { name: 'Forgot your password?' }).click();
      await visitor.page.getByText('Its operator resets passwords').waitFor();
      await visitor.page.getByText('npx lodestone account reset-password <email>').waitFor();
      expect(await visitor.page.getByLabel('Email').count()).toBe(0);
      expect(await visitor.accessibilityFaults()).toEqual([]);
      expect(visitor.problems).toEqual([]);
      await visitor.close();
    } finally {
      await silent.stop();
    }
  });
});
