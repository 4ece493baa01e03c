/** What `npm run test:fast` runs of the suites, and what it leaves to `npm test`. vitest.config.ts and scripts/test.mjs read it. */

/** Unit tests that start servers or processes, or play long sequences. */
export const slowUnits = [
  'src/storage/**/*.test.ts',
  'src/**/journal*.test.ts',
  'src/**/lock.test.ts',
  'src/**/sign-ins.test.ts',
  'src/**/redis/*.test.ts',
  'src/**/ip-limiter.test.ts',
  'src/**/http-transport.test.ts',
  'src/**/read-failure.test.ts',
  'src/**/count-pieces.test.ts',
  'src/**/quota-midnights.test.ts',
  'src/http/dashboard/sign-in.test.ts',
  'src/http/dashboard/resources.test.ts',
  'src/http/dashboard/passwords.test.ts',
  'src/cli/cli.test.ts',
  'src/cli/catalogue-check-strict.test.ts',
  'src/http/api/aliases.test.ts',
  'src/http/server/connections.test.ts',
  'src/http/server/fast-connection.test.ts',
  'src/http/server/request-head.test.ts',
  'src/http/ops/metrics.test.ts',
  'src/cluster/memory.test.ts',
  'src/sealing/sealer*.test.ts',
];

/** A whole gateway before a scripted upstream: an answer, a stream, a walk, a refusal, a bill, the sign-in to the dashboard. */
export const smoke = [
  'tests/api/chat/answers.test.ts',
  'tests/api/chat/stream.test.ts',
  'tests/api/chat/401.test.ts',
  'tests/api/chat/402.test.ts',
  'tests/api/chat/fallback-chain.test.ts',
  'tests/faults/money-usage.test.ts',
];

/** For the last lines of the run. */
export const leftOut = [
  'browser suites, workers and replicas, provider dialects, client libraries, faults and limits, except for a smoke test',
  `units that start servers or processes: ${slowUnits.join(', ')}`,
  'the size of the dashboard',
];
