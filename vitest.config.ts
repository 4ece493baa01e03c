/** Unit tests stand beside the code, black-box tests under tests/. One PostgreSQL serves all of them. */
import { defineConfig } from 'vitest/config';
import { slowUnits, smoke } from './tests/fast.mjs';
import { writeToMemory } from './tests/support/memory-folder.js';

writeToMemory();

const common = {
  pool: 'forks' as const,
  // Only what hangs runs into these: a machine that is shared with others may be ten times slower for minutes.
  testTimeout: 180_000,
  hookTimeout: 300_000,
  setupFiles: ['tests/support/before-each-file.ts'],
  expect: { poll: { timeout: 60_000 } },
  // The compiled gateway is run as it is, by Node itself.
  server: { deps: { external: [/\/dist\//] } },
};

/** Whole processes on a busy machine may miss a moment. A test that had to be repeated is named at the end, to be looked into. */
const onTheMachine = { retry: 2 };

/** A browser or a fleet keeps a processor busy by itself, so fewer of them at a time, after all others. They stop what they start, so their files share a process too. */
const busy = { maxWorkers: 3, sequence: { groupOrder: 1 }, isolate: false };

/** Suites that make their gateways and upstreams themselves and leave nothing behind, so that their files may share a process. */
const sharing = ['tests/{api,catalogue,clients,dialects,docs,faults,observability,shipping}/**/*.test.ts'];

/** `npm run test:fast`: the units without the slow ones, and a smoke test of the black box. */
const fast = process.env.LODESTONE_FAST === '1';

const inBrowser = ['tests/browser/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    // Most tests wait for time budgets more than for the processor, so twice what a small machine has cores. Those of the fast run do not
    // wait, and each process more loads all modules once more.
    maxWorkers: fast ? 2 : 4,
    watch: false,
    projects: [
      // Files share a process where they can: loading the modules anew for each took as long as the tests.
      {
        test: {
          ...common,
          name: 'units',
          include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'bench/**/*.test.mjs'],
          ...(fast && { exclude: slowUnits }),
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          ...onTheMachine,
          name: 'black box',
          include: fast ? smoke : sharing,
          isolate: false,
        },
      },
      {
        test: {
          ...common,
          ...onTheMachine,
          ...busy,
          name: 'whole',
          include: ['tests/**/*.test.ts'],
          exclude: [...sharing, ...inBrowser],
        },
      },
      {
        test: {
          ...common,
          ...onTheMachine,
          ...busy,
          name: 'browser',
          include: inBrowser,
          // Each process starts a browser, which has processes of its own.
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          // Not for the others: a run without these suites looks for no browser.
          globalSetup: ['tests/support/browser-setup.ts'],
        },
      },
    ],
  },
});
