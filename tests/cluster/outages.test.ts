/** Parts of a fleet fail, or are replaced, under load. With LODESTONE_FULL=1 the suites have their full counts and times. */
import { afterAll, beforeAll } from 'vitest';
import { type Replicas, startReplicas } from '../support/replicas.js';
import { OwnPostgres } from './own-postgres.js';
import { postgresAwaySuite } from './postgres-away-suite.js';
import { redisAwaySuite } from './redis-away-suite.js';
import { upgradeSuite } from './upgrade-suite.js';

let postgres: OwnPostgres;
let fleet: Replicas;
beforeAll(async () => {
  postgres = await OwnPostgres.start();
  fleet = await startReplicas({ databaseUrl: postgres.databaseUrl });
}, 180_000);
afterAll(async () => {
  postgres?.thaw();
  await fleet?.stop();
  await postgres?.remove();
});

redisAwaySuite(() => fleet);
postgresAwaySuite(() => ({ fleet, postgres }));
upgradeSuite(() => ({ fleet, databaseUrl: postgres.databaseUrl }));
