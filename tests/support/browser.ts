/**
 * A real Chromium for the tests, wherever the machine has one: `CHROME_PATH`, the PATH, the package `@sparticuz/chromium` (Linux
 * on x64), or Debian's package where it may be installed. Where there is none, the tests fail and say what to do.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { packagedChromium } from './packaged-chromium.js';

const commands = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const applications = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Nothing that would loosen the web's rules: they are what is tested. */
const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'];

export async function launchBrowser(): Promise<Browser> {
  const found = installedBrowser();
  if (found) return chromium.launch({ executablePath: found, args });
  const packaged = await packagedChromium();
  if (packaged) return chromium.launch({ executablePath: packaged.path, env: packaged.env, args });
  installWithApt();
  const installed = onPath(commands);
  if (installed) return chromium.launch({ executablePath: installed, args });
  throw new Error(
    'No Chromium was found. Install Chromium or Chrome, or give its path in CHROME_PATH, or (Linux on x64) run "npm install --no-save @sparticuz/chromium@153.0.0".',
  );
}

function installedBrowser(): string | undefined {
  const given = process.env.CHROME_PATH;
  if (given && !existsSync(given)) throw new Error(`CHROME_PATH names ${given}, which does not exist.`);
  return given || onPath(commands) || applications.find((path) => existsSync(path));
}

function onPath(names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** Only as root, and only where it works; what it says is in the error of whoever finds no browser after it. */
function installWithApt(): void {
  if (process.getuid?.() !== 0 || !onPath(['apt-get'])) return;
  try {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 120_000,
    });
  } catch {
    // No network, or no such package: the caller names the other ways.
  }
}
