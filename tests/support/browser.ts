/** Launches the Chromium that `browser-setup.ts` found before the suites started, and skips the suites where there is none. */
import { type Browser, chromium } from 'playwright-core';
import { describe, inject } from 'vitest';
import type { BrowserSearch } from './find-browser.js';

declare module 'vitest' {
  interface ProvidedContext {
    browser: BrowserSearch;
  }
}

/** Nothing that loosens the web's rules: the suites test those rules. */
const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** `describe` for a suite that needs a browser. */
export const describeInBrowser = describe.skipIf(search()?.browser === undefined);

export async function launchBrowser(): Promise<Browser> {
  const browser = search()?.browser;
  if (!browser) throw new Error('There is no browser: only the suites in tests/browser have one.');
  const env = { ...(process.env as Record<string, string>), ...browser.env };
  return chromium.launch({ executablePath: browser.path, env, args });
}

/** Undefined outside tests/browser, where nobody searched. */
function search(): BrowserSearch | undefined {
  return inject('browser');
}
