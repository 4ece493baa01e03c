/** Starts what all suites share, once a run, and stops it after the last. */
import type { TestProject } from 'vitest/node';
import { createSearchesFile, takeSearches } from './secret-searches.js';
import { type SharedPostgres, sharedPostgres } from './shared-postgres.js';

let postgres: SharedPostgres | undefined;
let searches: string | undefined;

export async function setup(project: TestProject): Promise<void> {
  postgres = await sharedPostgres();
  project.provide('postgres', postgres.connection);
  project.provide('newCluster', postgres.newCluster);
  searches = createSearchesFile();
  project.provide('secretSearches', searches);
}

export async function teardown(): Promise<void> {
  await postgres?.stop();
  if (searches === undefined) return;
  const { summary, leaks } = takeSearches(searches);
  console.log(summary);
  if (leaks.length === 0) return;
  console.error(`Secrets leaked: ${[...new Set(leaks)].join('; ')}`);
  // An error thrown here would be printed and change nothing.
  process.exitCode = 1;
}
