/** For `npm run pictures` alone: the gateway and the browser that the suites use, and no suite. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['tests/pictures/{take,film}.ts'],
    // The browser and the machine are shared: one after the other.
    fileParallelism: false,
    globalSetup: ['tests/support/global-setup.ts', 'tests/support/browser-setup.ts'],
    setupFiles: ['tests/support/before-each-file.ts'],
    pool: 'forks',
    testTimeout: 180_000,
    hookTimeout: 180_000,
    watch: false,
    server: { deps: { external: [/\/dist\//] } },
  },
});
