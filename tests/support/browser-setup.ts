/** Finds or fetches the browser once, before the first suite starts, and prints which one it is. */
import type { TestProject } from 'vitest/node';
import { findBrowser } from './find-browser.js';

export async function setup(project: TestProject): Promise<void> {
  const found = await findBrowser();
  project.provide('browser', found);
  console.log(found.summary);
}
