/** A store with one account, and sealers on it like the processes of a fleet. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect } from 'vitest';
import { type Logger, silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/time.js';
import type { Generation } from '../../src/domain/generation.js';
import { settlementRow } from '../../src/domain/settlement-row.js';
import { verifyLog } from '../../src/proof/check-log.js';
import { LogKeyFile } from '../../src/sealing/log-key.js';
import { PublishedCheckpoint } from '../../src/sealing/published-checkpoint.js';
import { Sealer } from '../../src/sealing/sealer.js';
import { openStore } from '../../src/storage/open-store.js';
import type { Store } from '../../src/storage/store.js';
import { aGeneration } from './generation.js';
import { type FreshDatabase, freshDatabase } from './postgres.js';

export const origin = 'llm.example.com/log';

export interface SealerRig {
  folder: string;
  store: Store;
  client: pg.Client;
  /** The errors that sealers logged. */
  told: string[];
  /** The warnings, such as that of a round that failed. */
  warned: string[];
  /** `own` is a machine with a data folder of its own. */
  sealer(options?: { own?: string; mayCreate?: boolean; name?: string }): Sealer;
  settle(count: number, more?: Partial<Generation>): Promise<string[]>;
  expectWhole(size: number): Promise<void>;
}

export function useSealers(): SealerRig {
  const rig = { sealer, settle, expectWhole } as SealerRig;
  let database: FreshDatabase;
  beforeEach(async () => {
    rig.folder = mkdtempSync(join(tmpdir(), 'lodestone-sealer-'));
    database = await freshDatabase();
    rig.store = await openStore({ connection: database.connection, logger: silentLogger });
    rig.client = new pg.Client({ ...database.connection });
    await rig.client.connect();
    const person = { email: 'a@example.com', name: null, billingCountry: null, createdAt: 1 };
    await rig.store.accounts.create({ id: 'account-1', ...person });
    rig.told = [];
    rig.warned = [];
  });
  afterEach(async () => {
    await rig.client.end();
    await rig.store.close();
    await database.drop();
    rmSync(rig.folder, { recursive: true });
  });

  function sealer({ own = '', mayCreate = true, name = origin } = {}): Sealer {
    const logger = {
      ...silentLogger,
      error: (_: object, text: string) => void rig.told.push(text),
      warn: (_: object, text: string) => void rig.warned.push(text),
    } as Logger;
    const keyFile = new LogKeyFile(join(rig.folder, 'log-key'), mayCreate);
    const published = new PublishedCheckpoint(join(rig.folder, `log-checkpoint${own}`));
    return new Sealer({ store: rig.store.log, origin: name, keyFile, published, clock: systemClock, logger });
  }

  async function settle(count: number, more: Partial<Generation> = {}): Promise<string[]> {
    const rows = Array.from({ length: count }, () => aGeneration({ createdAt: Date.now(), ...more }));
    await rig.store.ledger.settle(rows.map(settlementRow));
    return rows.map(({ id }) => id);
  }

  async function expectWhole(size: number): Promise<void> {
    const { log, records } = rig.store;
    const description = async () => {
      const { origin: of, keys } = await log.status();
      return { origin: of, keys: keys.map(({ verifierKey }) => ({ verifier_key: verifierKey })) };
    };
    const checkpoint = async () => (await log.status()).checkpoint!;
    const source = {
      description,
      checkpoint,
      tile: async (place: { level: number; index: number; width: number }) =>
        (await log.tile(place))!.subarray(0, place.width * 32),
    };
    expect((await verifyLog(source, null)).faults).toEqual([]);
    expect((await log.status()).size).toBe(size);
    expect((await records.check()).faults).toEqual([]);
    const { rows } = await rig.client.query(
      `select count(*) as n, count(distinct place) as places from (
         select leaf_index as place from lodestone.receipts
         union all select leaf_index from lodestone.audit where leaf_index is not null
         union all select generate_series(first_leaf, first_leaf + leaf_count - 1) from lodestone.log_batches
       ) leaves`,
    );
    expect(rows[0]).toEqual({ n: String(size), places: String(size) });
  }

  return rig;
}
