/** The files that `npm run test:long` runs, one after another. Hostile requests take 30 minutes, hostile answers 20. */
export const longTests = [
  'slow-readers.mjs',
  'disk-full.mjs',
  'left-streams.mjs',
  'hostile-requests.mjs',
  'hostile-answers.mjs',
  'kill-under-load.mjs',
  'import-kills.mjs',
  'records.mjs',
  'openapi-fuzz.mjs',
  'full-counts.mjs',
  'recipes.mjs',
  'node-matrix.mjs',
  'release.mjs',
];
