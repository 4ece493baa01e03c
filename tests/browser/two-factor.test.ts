/** Two-factor sign-in in a real browser: set up, sign in with a code, turn off; and an operator who needs it. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { codeAt } from '../support/authenticator.js';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { newEmail, password, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import type { Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await startDashboard({ sign_in: { require_two_factor_for_operators: true } });
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

const press = ({ page }: Visitor, name: string) => page.getByRole('button', { name, exact: true }).click();

describeInBrowser('two-factor sign-in', () => {
  it('is set up on the Account page, asked for at sign-in, and needed by an operator', async () => {
    const member = await signUp(gateway, newEmail('two'));
    await gateway.admin('PATCH', `/accounts/${member.accountId}`, { operator: true });
    const visitor = await visitorOf(browser, gateway, member);
    const { page } = visitor;
    await visitor.visit('/accounts');
    await page.getByText('Operators of this gateway need two-factor sign-in').waitFor();
    expect(await page.getByRole('link', { name: 'Accounts', exact: true }).count()).toBe(0);

    await page.getByLabel('Your password').fill(password);
    await press(visitor, 'Set up two-factor sign-in');
    await page.getByRole('img', { name: 'QR code with the secret' }).waitFor();
    expect(await visitor.accessibilityFaults()).toEqual([]);
    const secret = (await page.getByRole('region', { name: 'Secret' }).textContent())!;
    await page.getByLabel('Code', { exact: true }).fill(codeAt(secret, Date.now()));
    await press(visitor, 'Turn on');
    const codes = page.getByRole('region', { name: 'Recovery codes' });
    await codes.waitFor();
    expect((await codes.textContent())!.match(/[a-z2-9]{4}(-[a-z2-9]{4}){3}/g)).toHaveLength(10);
    expect(await visitor.accessibilityFaults()).toEqual([]);
    await press(visitor, 'I have saved them');
    await page.getByText('Recovery codes left: 10').waitFor();
    await page.getByRole('link', { name: 'Accounts', exact: true }).waitFor();

    const second = await visitorOf(browser, gateway, null);
    await second.signIn(member.email, password);
    await second.page.getByLabel('Code', { exact: true }).waitFor();
    expect(await second.accessibilityFaults()).toEqual([]);
    // The code of this half minute was used to turn it on.
    await second.page.getByLabel('Code', { exact: true }).fill(codeAt(secret, Date.now(), 1));
    await press(second, 'Sign in');
    await second.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await second.visit('/accounts');
    await second.page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
    expect([...visitor.problems, ...second.problems]).toEqual([]);
  });
});
