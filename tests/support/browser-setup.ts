/**
 * Finds or fetches the browser once, and prints which one it is. A browser that is fetched takes a while, and the suites that need it run
 * last, so nobody waits for it here: its place is written to a file, which `browser.ts` waits for.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { TestProject } from 'vitest/node';
import { type BrowserSearch, findBrowser } from './find-browser.js';

/** A wrong `CHROME_PATH` is known at once, and ends the run. */
const faultMs = 500;

let folder: string | undefined;
let searching: Promise<void> | undefined;

export async function setup(project: TestProject): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-browser-'));
  const file = join(folder, 'found.json');
  project.provide('browserFile', file);
  searching = findBrowser().then((found) => keep(file, found));
  await Promise.race([searching, pause(faultMs)]);
}

export async function teardown(): Promise<void> {
  await searching;
  if (folder) rmSync(folder, { recursive: true, force: true });
}

/** In one step, so that nobody reads half of it. */
function keep(file: string, found: BrowserSearch): void {
  console.log(found.summary);
  writeFileSync(`${file}.draft`, JSON.stringify(found));
  renameSync(`${file}.draft`, file);
}
