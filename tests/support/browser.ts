/** Launches the Chromium that `browser-setup.ts` found, and skips the suites where there is none. */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { describe, inject } from 'vitest';
import type { BrowserSearch } from './find-browser.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Is there once the search has ended, with what it found. */
    browserFile: string;
  }
}

/** Nothing that loosens the web's rules: the suites test those rules. */
const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

/** The steps of a search that fetches a browser have time limits of their own, which are far shorter together. */
const patienceMs = 900_000;

/** Undefined where there is none, and outside tests/browser, where nobody searched. */
const found = (await search())?.browser;

/** `describe` for a suite that needs a browser. */
export const describeInBrowser = describe.skipIf(found === undefined);

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

async function search(): Promise<BrowserSearch | undefined> {
  const file = inject('browserFile');
  if (file === undefined) return undefined;
  const end = performance.now() + patienceMs;
  while (!existsSync(file)) {
    if (performance.now() > end) throw new Error('The search for a browser has not ended.');
    await pause(100);
  }
  return JSON.parse(readFileSync(file, 'utf8')) as BrowserSearch;
}
