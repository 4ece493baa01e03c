/** Unit tests stand beside the code, black-box tests under tests/. One PostgreSQL serves all of them. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'dashboard/src/**/*.test.ts', 'tests/**/*.test.ts'],
    globalSetup: ['tests/support/global-setup.ts'],
    pool: 'forks',
    // Many tests wait for time budgets more than for the processor, so one more than a small machine has cores.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    watch: false,
    // The compiled gateway is run as it is, by Node itself.
    server: { deps: { external: [/\/dist\//] } },
  },
});
