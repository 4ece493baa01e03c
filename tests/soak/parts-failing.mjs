/**
 * Redis and PostgreSQL killed, frozen and restarted under load at two replicas, each for as long as it takes that every time limit in
 * between expires. The tests are those of `npm test`; this runs them with their full times and prints their figures.
 *
 *   npm run build && node tests/soak/parts-failing.mjs
 */
import { runAtFullScale } from './full-scale-tests.mjs';

await runAtFullScale(['redis-away', 'postgres-away']);
