/** Moving in, in a real browser: the report of an import, the operator's names, and keys that were brought along. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { main } from '../../src/cli/cli.js';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { type Member, signUp, startDashboard, visitorOf } from '../support/dashboard.js';
import type { TestGateway } from '../support/gateway.js';
import { desktop, phone } from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 180_000 });

let browser: Browser;
let gateway: TestGateway;
let operator: Member;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-report-'));
  browser = await launchBrowser();
  gateway = await startDashboard();
  operator = await signUp(gateway, 'mover@example.test');
  await gateway.admin('PATCH', `/accounts/${operator.accountId}`, { operator: true });
  await gateway.admin('PUT', '/names/gpt-4o', { model: 'auto/meta/llama-3.3-70b' });
  const token_sha256 = createHash('sha256').update('sk-brought-along').digest('hex');
  const brought = { name: 'old', token_sha256, last_four: 'long', imported_from: { system: 'litellm', id: 'k' } };
  await gateway.admin('POST', `/accounts/${operator.accountId}/keys`, brought);
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

async function writeReport(): Promise<string> {
  const config = `model_list:
  - { model_name: mine, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY, rpm: 5 } }
router_settings: { num_retries: 2 }
litellm_settings: { cache: true }
`;
  writeFileSync(join(folder, 'config.yaml'), config);
  const io = { out: () => {}, err: () => {}, env: {}, cwd: folder };
  expect(await main(['import', 'litellm', 'config.yaml', '--out', 'made'], io)).toBe(3);
  return join(folder, 'made/report.md');
}

async function picture(page: Page, name: string): Promise<void> {
  if (!shots) return;
  mkdirSync(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `imports-${name}.png`) });
}

describeInBrowser('moving in', () => {
  it('the report of an import is shown, by outcome and by words, and nothing of it leaves the browser', async () => {
    const report = await writeReport();
    const looks = [{ theme: 'light', width: desktop } as const, { theme: 'dark', width: phone } as const];
    for (const { theme, width } of looks) {
      const visitor = await visitorOf(browser, gateway, operator, { theme, width });
      const { page } = visitor;
      await visitor.visit('/imports');
      await page.getByText('No report yet').waitFor();
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.method()));
      await page.getByLabel('Report', { exact: true }).setInputFiles(join(folder, 'config.yaml'));
      await page.getByText('config.yaml is not the report of an import.').waitFor();
      await page.getByLabel('Report', { exact: true }).setInputFiles(report);
      await page.getByRole('heading', { name: 'Import from config.yaml' }).waitFor();
      const fields = () => page.getByRole('table', { name: 'Fields' }).locator('tbody tr').count();
      await expect.poll(fields).toBe(6);
      expect(await visitor.accessibilityFaults()).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth')).toBe(false);
      await picture(page, `${theme}-${width}`);
      await page.getByLabel('Outcome').selectOption('not taken');
      await expect.poll(fields).toBe(2);
      await page.getByLabel('Search').fill('kept');
      await expect.poll(fields).toBe(1);
      expect(sent.filter((method) => method !== 'GET')).toEqual([]);
      expect(visitor.problems).toEqual([]);
      await visitor.close();
    }
  });

  it('names are on the Models page and in the pickers that may hold them, and a key says where it is from', async () => {
    const visitor = await visitorOf(browser, gateway, operator);
    const { page } = visitor;
    page.setDefaultTimeout(20_000);
    await visitor.visit('/models');
    await page.getByText('gpt-4o').first().waitFor();
    await visitor.visit('/keys');
    await page.getByText('brought from LiteLLM', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Replace by a new key' }).waitFor();
    await visitor.visit('/playground');
    await page.getByLabel('Model').fill('gpt-4o');
    await page.getByRole('option', { name: /gpt-4o/ }).waitFor();
    // A chain holds no names.
    await visitor.visit('/fallback');
    const entry = page.getByLabel('Entry to add');
    await entry.fill('gpt-4o');
    expect(await page.getByRole('option', { name: /gpt-4o/ }).count()).toBe(0);
    expect(visitor.problems).toEqual([]);
    await visitor.close();
  });
});
