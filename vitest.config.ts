/** Unit tests stand beside the code, black-box tests under tests/. One PostgreSQL serves all of them. */
import { dirname, join, resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { slowUnits, smoke } from './tests/fast.mjs';
import { repeatMeasured } from './tests/support/measured-time.js';
import { writeToMemory } from './tests/support/memory-folder.js';
import { SlowFirst } from './tests/support/slow-first.js';

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

/** A busy machine may miss a moment. A test that had to be repeated is named at the end, to be looked into. */
const onTheMachine = { retry: repeatMeasured(2) };
/** A page has moments that no assertion names: what Chromium draws, loads and animates. */
const onAPage = { retry: 2 };

/**
 * What a test outside src imports of the gateway is compiled already, and the gateways of the tests run it: Node loads it once a process.
 * As TypeScript it was translated for each project, and loaded by each process beside the compiled one.
 */
const asCompiled = {
  name: 'as-compiled',
  enforce: 'pre' as const,
  resolveId(path: string, importer?: string) {
    if (!path.startsWith('.') || !importer?.startsWith(outside)) return null;
    const file = resolve(dirname(importer), path);
    return file.startsWith(source) ? join(compiled, file.slice(source.length)) : null;
  },
};
const outside = join(import.meta.dirname, 'tests/');
const source = join(import.meta.dirname, 'src/');
const compiled = join(import.meta.dirname, 'dist/');

/** A browser or a fleet keeps a processor busy by itself, so fewer of them at a time, after all others. They stop what they start, so their files share a process too. */
const busy = { maxWorkers: 4, sequence: { groupOrder: 2 }, isolate: false };

/**
 * Units seldom wait, and each process more loads all modules once more: six of them took a third more of the processor than two, and as
 * long. They come first, beside the checks of style and types.
 */
const few = { maxWorkers: 3, sequence: { groupOrder: 0 } };

/** Fleets of gateways, and the measurement of what a request costs. The other suites have one gateway or two, and mostly wait. */
const fleets = ['tests/{cluster,speed}/**/*.test.ts'];

/** `npm run test:fast`: the units without the slow ones, and a smoke test of the black box. */
const fast = process.env.LODESTONE_FAST === '1';

const inBrowser = ['tests/browser/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    // Most tests wait for time budgets more than for the processor, so more than twice what a small machine has cores. Those of the fast
    // run do not wait.
    maxWorkers: fast ? 2 : 6,
    watch: false,
    sequence: { sequencer: SlowFirst },
    projects: [
      // Files share a process where they can: loading the modules anew for each took as long as the tests.
      {
        test: {
          ...common,
          ...onTheMachine,
          ...(!fast && few),
          name: 'units',
          include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'bench/**/*.test.mjs'],
          ...(fast && { exclude: slowUnits }),
          isolate: false,
        },
      },
      {
        plugins: [asCompiled],
        test: {
          ...common,
          ...onTheMachine,
          ...(!fast && { sequence: { groupOrder: 1 } }),
          name: 'black box',
          include: fast ? smoke : ['tests/**/*.test.ts'],
          exclude: [...fleets, ...inBrowser],
          isolate: false,
        },
      },
      {
        plugins: [asCompiled],
        test: {
          ...common,
          ...onTheMachine,
          ...busy,
          name: 'whole',
          include: fleets,
        },
      },
      {
        plugins: [asCompiled],
        test: {
          ...common,
          ...onAPage,
          ...busy,
          name: 'browser',
          include: inBrowser,
          // Not for the others: a run without these suites looks for no browser.
          globalSetup: ['tests/support/browser-setup.ts'],
        },
      },
    ],
  },
});
