/** PostgreSQL fails under load: known keys are still served, nothing is made up, and what was delivered is settled once it is back. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, pause, scaled } from '../faults/fixture.js';
import type { Json, TestAccount } from '../support/client.js';
import { type Replicas, whileShared } from '../support/replicas.js';
import { statusesOf, storeIsBack, throughOutage } from './outage.js';
import type { OwnPostgres } from './own-postgres.js';

const awayMs = scaled(2_500, 8_000);
/** Longer than a query may take, in the full version. */
const frozenMs = scaled(2_500, 9_000);
/** A key of the right shape that no account owns. */
const unknown = { key: `sk-lr-${'Zz9_'.repeat(10)}abc` };

let postgres: OwnPostgres;
let fleet: Replicas;

/** The list and both replicas say the same of a key: there, or gone. */
async function expectWhole({ accountId, keyId, key }: TestAccount): Promise<number> {
  const { json } = await fleet.a.admin('GET', `/accounts/${accountId}/keys`);
  const listed = (json.data as Json[]).some(({ id }) => id === keyId);
  const status = listed ? 200 : 401;
  expect(await statusesOf(fleet, { key }, ask())).toEqual([status, status]);
  return status;
}

interface Failure {
  name: string;
  lastsMs: number;
  begin(): Promise<void> | void;
}

/** A known key is held under Redis' word, so both of them unreachable at once is another story. */
const through = (failure: Failure): Promise<void> =>
  whileShared(fleet, async () => {
    await postgres.start();
    await throughIt(failure);
  });

async function throughIt({ name, lastsMs, begin }: Failure): Promise<void> {
  const account = await fleet.a.createAccount();
  expect(await statusesOf(fleet, account, ask())).toEqual([200, 200]);
  let deletion: Promise<number> = Promise.resolve(0);
  let meanwhile: number[] = [];
  const strangers: Promise<number[]>[] = [];
  await throughOutage(fleet, {
    ...{ name, lastsMs, begin, end: () => postgres.start(), recovered: storeIsBack },
    async meanwhile() {
      await pause(200);
      strangers.push(statusesOf(fleet, unknown, ask()));
      const { accountId, keyId } = account;
      deletion = fleet.b.admin('DELETE', `/accounts/${accountId}/keys/${keyId}`).then(({ status }) => status);
      await pause(200);
      meanwhile = await Promise.race([statusesOf(fleet, account, ask()), pause(1_000).then(() => [])]);
    },
  });
  const status = await deletion;
  const after = await expectWhole(account);
  console.log(
    `${name}: a deletion meanwhile was answered ${status}; the key then ${meanwhile.join(' and ') || 'waited'}, afterwards ${after}`,
  );
  // Not acknowledged means not known; acknowledged means gone; a key that is there is never called unknown.
  if (status === 204) expect(after).toBe(401);
  else expect([status, ...meanwhile].filter((one) => one !== 200 && one !== 500)).toEqual([]);
  for (const statuses of await Promise.all(strangers))
    expect(statuses.every((one) => one === 500 || one === 401)).toBe(true);
  expect(await statusesOf(fleet, unknown, ask())).toEqual([401, 401]);
}

export function postgresAwaySuite(shared: () => { fleet: Replicas; postgres: OwnPostgres }): void {
  describe('PostgreSQL', () => {
    beforeAll(() => {
      ({ fleet, postgres } = shared());
    });

    it(
      'killed and started again: no answer is cut or lost, no key unknown, a deletion that fails fails whole',
      () => through({ name: 'PostgreSQL killed', lastsMs: awayMs, begin: () => postgres.kill() }),
      240_000,
    );

    it(
      'frozen and thawed: the same',
      () => through({ name: 'PostgreSQL frozen', lastsMs: frozenMs, begin: () => postgres.freeze() }),
      240_000,
    );

    it(
      'restarted in order: the same',
      () => through({ name: 'PostgreSQL restarted', lastsMs: 0, begin: () => postgres.stop() }),
      240_000,
    );
  });
}
