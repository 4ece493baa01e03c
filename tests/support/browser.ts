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

let launched: Promise<Browser> | undefined;

/** One browser a process, which ends with it: files share a process, and each closes what it opened. */
export function launchBrowser(): Promise<Browser> {
  launched ??= launch().catch((error) => {
    launched = undefined;
    throw error;
  });
  return launched;
}

async function launch(): Promise<Browser> {
  const found = search()?.browser;
  if (!found) throw new Error('There is no browser: only the suites in tests/browser have one.');
  const env = { ...(process.env as Record<string, string>), ...found.env };
  const browser = await chromium.launch({ executablePath: found.path, env, args });
  browser.once('disconnected', () => {
    launched = undefined;
  });
  return browser;
}

/** For the end of a file: every window that is still open is closed. */
export async function closeWindows(): Promise<void> {
  const browser = await launched?.catch(() => undefined);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}

/** Undefined outside tests/browser, where nobody searched. */
function search(): BrowserSearch | undefined {
  return inject('browser');
}
