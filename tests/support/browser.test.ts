import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from './browser.js';
import { type BrowserSource, findBrowser, installedBrowser, installedShell } from './find-browser.js';

let folder: string;
let calls: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-path-'));
  calls = join(folder, 'calls');
  script('apt-get', `echo "$@" >> '${calls}'; sleep 0.2`);
  vi.stubEnv('PATH', `${folder}:/bin`);
  vi.stubEnv('CHROME_PATH', undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function script(name: string, lines: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${lines}\n`);
  chmodSync(join(folder, name), 0o755);
}

describe('the browser of the tests', () => {
  it('is never installed by a suite, because two suites at once would meet the lock of the package manager', async () => {
    await Promise.allSettled([launchBrowser(), launchBrowser()]);
    expect(existsSync(calls) ? readFileSync(calls, 'utf8') : '').toBe('');
  });
});

describe('the search for a browser', () => {
  const none = (why: string): BrowserSource => ({ origin: 'nowhere', find: () => Promise.reject(new Error(why)) });
  const some = (path: string): BrowserSource => ({ origin: 'fetched', find: async () => ({ path }) });

  it('takes the one that CHROME_PATH names before any other, and tells so', async () => {
    script('chosen', '');
    vi.stubEnv('CHROME_PATH', join(folder, 'chosen'));
    const { browser, summary } = await findBrowser([some('/other')]);
    expect(browser?.path).toBe(join(folder, 'chosen'));
    expect(summary).toBe(`Browser: ${folder}/chosen, named by CHROME_PATH.`);
  });

  it('fails where CHROME_PATH names nothing', async () => {
    vi.stubEnv('CHROME_PATH', join(folder, 'missing'));
    await expect(findBrowser([some('/other')])).rejects.toThrow(
      `CHROME_PATH is ${folder}/missing, which does not exist`,
    );
  });

  it('takes a headless shell on the PATH before it fetches any', async () => {
    script('chromium', '');
    script('chromium-headless-shell', '');
    expect((await findBrowser()).summary).toBe(`Browser: ${folder}/chromium-headless-shell, which is installed.`);
  });

  it('takes a browser with windows only where no headless shell is found or fetched', async () => {
    script('chromium', '');
    // The machine's own folders may have a shell.
    vi.stubEnv('PATH', folder);
    const fetched = await findBrowser([installedShell, some('/a/shell'), installedBrowser]);
    expect(fetched.browser?.path).toBe('/a/shell');
    const offline = await findBrowser([installedShell, none('no network'), installedBrowser]);
    expect(offline.summary).toBe(`Browser: ${folder}/chromium, which is installed.`);
  });

  it('takes the first source that has one, and tells which it is', async () => {
    const found = await findBrowser([none('no network'), some('/a/chromium'), some('/b/chromium')]);
    expect(found).toEqual({ browser: { path: '/a/chromium' }, summary: 'Browser: /a/chromium, fetched.' });
  });

  it('says why there is none, and that the suites are skipped', async () => {
    const { browser, summary } = await findBrowser([none('no network'), none('apt-get needs Debian and root')]);
    expect(browser).toBeUndefined();
    expect(summary).toMatch(/none, so .*tests\/browser are skipped \(no network; apt-get needs Debian and root\)/);
  });
});
