/** Unit tests stand beside the code, black-box tests under tests/. One PostgreSQL serves all of them. */
import { defineConfig } from 'vitest/config';

const common = {
  pool: 'forks' as const,
  testTimeout: 30_000,
  hookTimeout: 30_000,
  // The compiled gateway is run as it is, by Node itself.
  server: { deps: { external: [/\/dist\//] } },
};

export default defineConfig({
  test: {
    globalSetup: ['tests/support/global-setup.ts'],
    // Many tests wait for time budgets more than for the processor, so one more than a small machine has cores.
    maxWorkers: 3,
    watch: false,
    projects: [
      // Units share a process: loading the modules anew for each file took longer than the tests.
      {
        test: {
          ...common,
          name: 'units',
          include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts'],
          isolate: false,
        },
      },
      { test: { ...common, name: 'whole', include: ['tests/**/*.test.ts'] } },
    ],
  },
});
