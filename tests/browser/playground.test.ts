/** The playground in a real browser: every client API, models side by side, Stop, a gateway that dies, and wishes about providers. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { type Member, signUp, spawnDashboard, visitorOf } from '../support/dashboard.js';
import type { SpawnedGateway } from '../support/gateway.js';
import { desktop, type Visitor } from '../support/visitor.js';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: SpawnedGateway;
let member: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  gateway = await spawnDashboard();
  member = await signUp(gateway, 'player@example.test');
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
});

async function withVisitor(test: (visitor: Visitor) => Promise<void>): Promise<void> {
  const visitor = await visitorOf(browser, gateway, member);
  await visitor.visit('/playground');
  await test(visitor);
  expect(visitor.problems).toEqual([]);
  await visitor.close();
}

async function send({ page }: Visitor, message: string): Promise<void> {
  await page.getByLabel('Message').fill(message);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
}

const long = 'The quick brown fox jumps over the lazy dog. '.repeat(400);

describeInBrowser('the playground', () => {
  it('sends through each API, and shows the code of that API with the earlier turns', () =>
    withVisitor(async (visitor) => {
      const { page } = visitor;
      for (const [api, client] of [
        ['chat', 'client.chat.completions.create('],
        ['messages', 'from anthropic import Anthropic'],
        ['responses', 'client.responses.create('],
      ] as const) {
        await page.getByLabel('API').selectOption(api);
        const sent = page.waitForRequest((request) => request.url().endsWith(`/playground/${api}`));
        await send(visitor, `Through ${api}`);
        expect(JSON.stringify((await sent).postDataJSON())).toContain('Through chat');
        await page.getByTestId('receipt').getByText('complete', { exact: true }).waitFor();
        await page.getByRole('log').getByText(`Through ${api}`).nth(1).waitFor();
        await page.getByRole('tab', { name: 'Python' }).click();
        const code = page.getByRole('tabpanel');
        await code.getByText(client).waitFor();
        expect(await code.textContent()).toContain('Through chat');
      }
      await page.getByRole('button', { name: 'Start over' }).click();
      await page.getByText('No messages yet').waitFor();
      await page.getByRole('button', { name: 'History (1)' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Through chat' }).click();
      await page.getByRole('log').getByText('Through responses').first().waitFor();
    }));

  it('has the code right below the conversation, however long the settings are', () =>
    withVisitor(async (visitor) => {
      const { page } = visitor;
      await send(visitor, 'Hello');
      await page.getByTestId('receipt').waitFor();
      for (const width of [1024, desktop]) {
        await visitor.showAt(width);
        const edges = async () => {
          const form = await page.locator('form', { has: page.getByLabel('Message') }).boundingBox();
          const code = await page.getByRole('region', { name: 'The same request in code' }).boundingBox();
          return code!.y - form!.y - form!.height;
        };
        await expect.poll(edges, { message: `below the conversation at ${width} px` }).toBeLessThan(40);
      }
    }));

  it('asks three models at once, and shows their receipts side by side', () =>
    withVisitor(async (visitor) => {
      const { page } = visitor;
      await page.getByRole('button', { name: 'Add model' }).click();
      await page.getByRole('button', { name: 'Add model' }).click();
      expect(await page.getByRole('button', { name: 'Add model' }).count()).toBe(0);
      await page.getByLabel('Model 3').fill('boreal sesto small');
      await page.getByRole('option', { name: /boreal\/mistral\/small-3\.2\/sesto/ }).click();
      await send(visitor, '**Bold** <img src=x onerror="document.title=1">');
      const receipts = page.getByTestId('receipts');
      await receipts.getByText('boreal/mistral/small-3.2/sesto').first().waitFor();
      await expect.poll(() => receipts.getByRole('link').count()).toBe(3);
      const answers = page.getByRole('log');
      expect(await answers.count()).toBe(3);
      await answers.first().locator('strong', { hasText: 'Bold' }).waitFor();
      expect(await answers.locator('img').count()).toBe(0);
      expect(await visitor.accessibilityFaults()).toEqual([]);
    }));

  it('keeps after Stop the receipt of what was delivered, and says it of a gateway that died', () =>
    withVisitor(async (visitor) => {
      const { page } = visitor;
      const answer = page.getByRole('log').getByText('quick brown').nth(1);
      await send(visitor, long);
      await answer.waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      const receipt = page.getByTestId('receipt');
      await receipt.getByText('client left').waitFor();
      await receipt.getByText('These figures are from your usage history').waitFor();
      expect(await receipt.textContent()).toMatch(/Cost\$0\.00/);

      await page.getByRole('button', { name: 'Start over' }).click();
      await send(visitor, long);
      await answer.waitFor();
      await gateway.kill('SIGKILL');
      await page.getByText('The connection to the gateway broke before the answer was complete.').waitFor();
      await page.getByRole('button', { name: 'Send again' }).click();
      await page.getByText('The gateway cannot be reached.').waitFor();
      // On another port, so the page that is open cannot go on.
      await gateway.restart();
    }));

  it('sends wishes about providers, and the answer is from one that they leave', () =>
    withVisitor(async (visitor) => {
      const { page } = visitor;
      await page.getByLabel('Model').fill('auto/meta/llama-3.3-70b');
      await page.getByText('Provider preferences').click();
      await page.getByLabel('Only these providers').fill('tsukimi');
      await page.keyboard.press('Enter');
      await page.getByRole('region', { name: 'These preferences as JSON' }).getByText('"tsukimi"').waitFor();
      expect(await visitor.accessibilityFaults('all but colours')).toEqual([]);
      await send(visitor, 'Hello');
      await page.getByTestId('receipt').getByText('tsukimi/meta/llama-3.3-70b/jptyo').waitFor();
      await page.getByRole('switch', { name: 'Not under the CLOUD Act' }).click();
      await send(visitor, 'Hello again');
      await page.getByText('HTTP 403 · routing_policy_exhausted').waitFor();
    }));
});
