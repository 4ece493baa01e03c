/** Starts what all suites share, once a run, and stops it after the last. */
import type { TestProject } from 'vitest/node';
import { type SharedPostgres, sharedPostgres } from './postgres.js';

let postgres: SharedPostgres | undefined;

export async function setup(project: TestProject): Promise<void> {
  postgres = await sharedPostgres();
  project.provide('postgres', postgres.connection);
}

export async function teardown(): Promise<void> {
  await postgres?.stop();
}
