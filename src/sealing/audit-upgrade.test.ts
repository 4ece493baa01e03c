/** An audit log that is older than its numbers and leaves. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FreshDatabase, freshDatabase } from '../../tests/support/postgres.js';
import { timeOrderedId } from '../base/ids.js';
import { silentLogger } from '../base/logger.js';
import { systemClock } from '../base/time.js';
import { AuditExport } from '../proof/check-audit.js';
import { hashesIn } from '../proof/tiles.js';
import { migrate } from '../storage/migrate.js';
import { migrations } from '../storage/migrations/index.js';
import { openStore } from '../storage/open-store.js';
import type { Store } from '../storage/store.js';
import { LogKeyFile } from './log-key.js';
import { PublishedCheckpoint } from './published-checkpoint.js';
import { Sealer } from './sealer.js';

const origin = 'llm.example.com/log';
const folder = mkdtempSync(join(tmpdir(), 'lodestone-audit-'));
let database: FreshDatabase;
let store: Store;
let lines: string[];
let leaves: Buffer[];

/** As the version before writes it. */
const insert = `insert into lodestone.audit (id, created_at, actor, action, subject, details) values ($1, now(), 'operator', 'account.update', 'acct-1', $2)`;

beforeAll(async () => {
  database = await freshDatabase('template1');
  const client = new pg.Client({ ...database.connection });
  await client.connect();
  await migrate(client, { known: migrations.filter(({ name }) => name < '0032') });
  for (const details of ['{"n":1}', '{"n":"\\ud800"}', '{"n":3}'])
    await client.query(insert, [`aud-${timeOrderedId(Date.now() - 1000)}`, details]);
  store = await openStore({ connection: database.connection, logger: silentLogger });
  await client.query(insert, [`aud-${timeOrderedId(Date.now())}`, '{"n":5}']);
  await client.end();
  const published = new PublishedCheckpoint(join(folder, 'log-checkpoint'));
  const keyFile = new LogKeyFile(join(folder, 'log-key'), true);
  await new Sealer({ store: store.log, origin, keyFile, published, clock: systemClock, logger: silentLogger }).round();
  lines = (await text(await store.records.export({ kind: 'audit', format: 'ndjson' }))).trim().split('\n');
  leaves = hashesIn((await store.log.tile({ level: 0, index: 0 }))!);
});
afterAll(async () => {
  await store.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

function check(changed: readonly string[]) {
  const audit = new AuditExport();
  for (const line of changed) audit.add(line);
  for (const leaf of leaves) audit.see(leaf.toString('latin1'));
  return audit.verdict(origin);
}

describe('entries from before the upgrade', () => {
  it('are numbered, have no leaf, and are named; an entry of its own says where leaves begin', async () => {
    const rows = lines.slice(1).map((line) => JSON.parse(line));
    expect(rows.map(({ seq, logged }) => [seq, logged])).toEqual([
      ...[1, 2, 3].map((seq) => [seq, false]),
      ...[4, 5].map((seq) => [seq, undefined]),
    ]);
    expect(rows[3]).toMatchObject({ action: 'audit.begin', actor: 'system', details: { entries_before: 3 } });
    expect((await store.audit.list(9)).map(({ leafIndex }) => leafIndex)).toEqual([1, 0, null, null, null]);
    expect(leaves).toHaveLength(2);
    expect(check(lines).faults).toEqual([]);
    expect(check(lines).checked.join(' ')).toMatch(/Entries 1 to 3 are from before the log had the audit/);
    expect((await store.records.check()).faults).toEqual([]);
  });

  it('cannot be made of later ones: what is called old has to come before that entry', () => {
    const asOld = (line: string) => JSON.stringify({ ...JSON.parse(line), logged: false, actor: 'anonymous' });
    const last = [...lines.slice(0, 5), asOld(lines[5]!)];
    expect(check(last).faults).toEqual([expect.stringMatching(/^Entry 5 is not in the log/)]);
    const begin = [...lines.slice(0, 4), asOld(lines[4]!), lines[5]!];
    expect(check(begin).faults.join(' ')).toMatch(/Entry 4 is not in the log/);
    expect(check(lines.slice(0, 4)).faults.join(' ')).toMatch(/Entry 1 is not in the log/);
  });
});
