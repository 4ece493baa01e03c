/**
 * The Credentials page: empty, with as many credentials as an account may have, and with some that fail; narrow and very wide, light and
 * dark. `LODESTONE_SHOTS=<folder>` keeps a picture of each.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { chatCatalogue } from '../api/catalogue.js';
import { closeWindows, describeInBrowser, launchBrowser } from '../support/browser.js';
import { dashboardCall, type Member, signUp, visitorOf } from '../support/dashboard.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { full } from '../support/scaled.js';
import { json, type ScriptedUpstream, startUpstream } from '../support/scripted-upstream.js';
import { makeSecretsKey } from '../support/secrets-key.js';
import { desktop, phone, settled, type Visitor } from '../support/visitor.js';

const shots = process.env.LODESTONE_SHOTS;
const wide = 1920;
const widths = full || shots ? [desktop, phone, wide] : [desktop, phone];
const most = 50;
const longReason =
  'Incorrect API key provided. You can find your API key at https://provider.example/account/api-keys-of-the-organisation-and-its-projects';

// A browser on a busy machine takes its time.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let browser: Browser;
let upstream: ScriptedUpstream;
let gateway: TestGateway;
let owner: Member;
let newcomer: Member;

beforeAll(async () => {
  browser = await launchBrowser();
  upstream = await startUpstream();
  upstream.reply(json({ error: { message: longReason } }, { status: 401 }));
  gateway = await startGateway({
    catalogue: chatCatalogue(upstream.url),
    config: { registration: 'open', secrets: { key_file: makeSecretsKey() } },
  });
  owner = await signUp(gateway, 'owner@example.test');
  newcomer = await signUp(gateway, 'new@example.test');
  const call = (method: string, path: string, body?: unknown) => dashboardCall(gateway, method, path, body, owner);
  const { id: project } = (await (await call('POST', 'projects', { name: 'search' })).json()) as { id: string };
  for (let n = 0; n < most; n++) {
    const body = {
      provider: n % 2 === 0 ? 'keyed' : 'keyless',
      name:
        n === 3
          ? 'the-key-that-has-a-very-long-name-without-any-blank-in-it-because-names-may-be-that-long'
          : `our key ${n}`,
      secret: { api_key: `own-key-number-${n}-0123456789` },
      ...{ use: ['only', 'first', 'last'][n % 3], project: n % 5 === 0 ? project : null },
      models:
        n < 2
          ? null
          : [`meta/model-${n}`, ...(n === 4 ? ['meta/llama', 'a-creator/a-model-with-a-long-name-0123456789'] : [])],
    };
    await call('POST', 'credentials', body);
  }
});

afterAll(async () => {
  await closeWindows();
  await gateway?.stop();
  await upstream?.stop();
});

const widerThanWindow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

async function expectSound(visitor: Visitor, shot: string): Promise<void> {
  const { page } = visitor;
  for (const width of widths) {
    await visitor.showAt(width);
    await expect.poll(() => page.evaluate('innerWidth')).toBe(width);
    expect(await page.evaluate(widerThanWindow), `${shot} scrolls sideways at ${width} px`).toBe(0);
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      if (shots) {
        mkdirSync(shots, { recursive: true });
        await page.screenshot({ path: join(shots, `${shot}-${width}-${theme}.png`), fullPage: true });
      }
      const part =
        width === desktop && theme === 'light' ? undefined : theme === 'dark' ? 'colours' : 'all but colours';
      expect(await visitor.accessibilityFaults(part), `${shot} at ${width} px, ${theme}`).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
  }
  await visitor.showAt(desktop);
  expect(visitor.problems).toEqual([]);
}

describeInBrowser('the Credentials page', () => {
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visitorOf(browser, gateway, owner);
  });
  afterAll(async () => {
    await visitor?.close();
  });

  it('without any says what to do', async () => {
    const fresh = await visitorOf(browser, gateway, newcomer);
    await fresh.visit('/credentials');
    await fresh.page.getByText('No credentials yet').waitFor();
    await expectSound(fresh, 'credentials-empty');
    await fresh.close();
  });

  it('a check that fails is an alert that stays, and the state with its reason', async () => {
    await visitor.visit('/credentials');
    await settled(visitor.page);
    await visitor.page.getByTitle('Check our key 0', { exact: true }).click();
    await visitor.page.getByRole('alert').getByText('our key 0 did not work.').waitFor();
    await visitor.page.getByText('failing').first().waitFor();
    await expectSound(visitor, 'credentials-failed');
  });

  it('shows as many as there may be, by pages or all', async () => {
    await visitor.visit('/credentials');
    await settled(visitor.page);
    for (const name of ['our key 0', 'our key 49'])
      await visitor.page.getByText(name, { exact: true }).first().waitFor();
    await expectSound(visitor, 'credentials-many');
  });

  it('a new one is asked for with the fields of its provider', async () => {
    await visitor.page.getByRole('button', { name: 'Add credential' }).click();
    await visitor.page.getByRole('dialog').waitFor();
    await expectSound(visitor, 'credentials-add');
    await visitor.page.keyboard.press('Escape');
  });
});
