/**
 * The suites of a fleet at full scale: 20 × `kill -9` of a replica under load at both, a replica that stands still for ten seconds,
 * 200 keys deleted one after the other, 50 changes of each kind, 50 balances used up and filled, 10,000 requests against the
 * ledger. The tests are those of `npm test`; this runs them with their full counts, one file after the other, and prints their
 * figures.
 *
 *   npm run build && node tests/soak/replicas-killed.mjs
 */
import { runAtFullScale } from './full-scale-tests.mjs';

await runAtFullScale(['replica-killed', 'revocation', 'changes', 'balance', 'limits']);
