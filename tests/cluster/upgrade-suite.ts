/**
 * A rolling upgrade and its way back: a version that has never heard of the newest migration serves beside one that has run it, on one
 * database, before and after a restart, and no request fails while processes are replaced.
 */
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, costOf, full, pause, pico, scaled } from '../faults/fixture.js';
import type { GatewayClient, TestAccount } from '../support/client.js';
import type { SpawnedGateway } from '../support/gateway.js';
import type { Replicas } from '../support/replicas.js';
import { CountedTraffic } from './counted-traffic.js';

/** What the next version may bring, by the rule of src/storage/migrations/additive.test.ts. */
const nextMigration = `
  alter table lodestone.accounts add column colour text, add column weight bigint not null default 7;
  alter table lodestone.keys add column purpose text;
  alter table lodestone.generations add column shade text not null default 'plain';
  alter table lodestone.aliases add column colour text;
  create table lodestone.sequels (id text primary key, account_id text references lodestone.accounts (id));
  create index generations_shade on lodestone.generations using brin (latency_ms);
  insert into lodestone.lodestone_migrations (name) values ('9001-next');`;

/** A second step, to be run under load. */
const migrationAfter = `
  alter table lodestone.generations add column gloss text;
  alter table lodestone.accounts add column gloss text not null default '';
  create table lodestone.sequels_of_sequels (id text primary key);
  insert into lodestone.lodestone_migrations (name) values ('9002-after-next');`;

const requestsPerSecond = scaled(20, 60);
const pauseMs = scaled(500, 5_000);

let databaseUrl: string;
let replicas: Replicas;

/** The last of a fleet: it leaves a schema that the gateway does not know. */
export function upgradeSuite(shared: () => { fleet: Replicas; databaseUrl: string }): void {
  describe('a rolling upgrade', () => {
    beforeAll(() => {
      ({ fleet: replicas, databaseUrl } = shared());
    });

    it('both keep serving, billing and changing accounts while the schema is that of the next version, and an older one starts on it', async () => {
      const { a, b } = replicas;
      const before = await a.createAccount({ credit: '1.00' });
      await served(before, 2);
      const client = new pg.Client(databaseUrl);
      await client.connect();
      await client.query(nextMigration);
      // The one that stays has prepared its statements before the columns were there.
      await served(before, 4);
      await b.restart();
      expect(b.output.stderr).toContain('migrated by a newer version');
      const after = await b.createAccount({ credit: '1.00' });
      await served(before, 6);
      await served(after, 2);
      for (const gateway of [a, b]) {
        const target = { name: `fast-${gateway === a ? 'a' : 'b'}`, target: ask().model };
        expect((await gateway.call('POST', '/v1/aliases', target, { key: after.key })).status).toBe(201);
      }
      const { rows } = await client.query('select name from lodestone.lodestone_migrations order by name');
      expect(rows.at(-1)).toEqual({ name: '9001-next' });
      await client.end();
    }, 180_000);

    it('no request fails under load while every replica is replaced, onto the newer schema and back to the older version', async () => {
      const { a, b, all } = replicas;
      const traffic = await CountedTraffic.begin(replicas);
      const away = new Set<SpawnedGateway>();
      const load = traffic.steady(requestsPerSecond, () => all.filter((replica) => !away.has(replica)));
      const client = new pg.Client(databaseUrl);
      await client.connect();
      /**
       * As an orchestrator does it: out of the balancer, a signal to end once what was sent before has arrived, and back when the new
       * process is ready.
       */
      const replace = async (replica: SpawnedGateway) => {
        away.add(replica);
        await load.answered(replica);
        await replica.restart();
        away.delete(replica);
        await pause(pauseMs);
      };
      try {
        await pause(pauseMs);
        await replace(a);
        await client.query(migrationAfter);
        // One serves that knew the schema before; the other begins on the newer one.
        await replace(b);
        if (full) await replace(a);
        await client.query('insert into lodestone.sequels_of_sequels (id) values ($1)', [traffic.account.accountId]);
        await pause(pauseMs);
      } finally {
        await load.stop();
        await client.end();
      }
      expect(
        traffic.outcomes.filter(({ fault }) => fault !== '').map(({ status, fault }) => `${status} ${fault}`),
      ).toEqual([]);
      const { held, lost, broken } = await traffic.expectBooks();
      expect([held, lost, broken]).toEqual([traffic.outcomes.length, 0, 0]);
      console.log(`${held} requests while every process was replaced and the schema was upgraded: none failed`);
      const check = await a.admin('GET', '/storage/check');
      expect(check.json).toMatchObject({ ok: true, faults: [] });
    }, 240_000);
  });
}

/** One answer from each, and the ledger agrees with all so far. */
async function served(account: TestAccount, inAll: number): Promise<void> {
  for (const gateway of [replicas.a, replicas.b]) {
    expect((await gateway.chat(ask(), { key: account.key })).status).toBe(200);
  }
  const left = 1_000_000_000_000n - BigInt(inAll) * costOf(9, 3);
  await expect.poll(() => balance(replicas.a, account), { timeout: 60_000 }).toBe(left);
}

async function balance(gateway: GatewayClient, { accountId }: TestAccount): Promise<bigint> {
  return pico(await gateway.balance(accountId));
}
