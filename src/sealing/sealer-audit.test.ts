/** Entries of the audit log: their numbers, their leaves, their export and its check. */
import { createHash } from 'node:crypto';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { origin, useSealers } from '../../tests/support/sealer-rig.js';
import { canonicalJson } from '../base/canonical-json.js';
import { timeOrderedId } from '../base/ids.js';
import { AuditExport } from '../proof/check-audit.js';
import { leafHash } from '../proof/merkle.js';
import { hashesIn } from '../proof/tiles.js';
import type { NewAuditEntry } from '../storage/store.js';

const rig = useSealers();
const anAccount = `acct-${timeOrderedId(1)}`;

async function record(more: Partial<NewAuditEntry> = {}): Promise<void> {
  const id = `aud-${timeOrderedId(Date.now())}`;
  const entry = { id, createdAt: Date.now(), actor: 'operator', action: 'account.update', subject: anAccount };
  await rig.store.audit.add({ ...entry, details: {}, ...more });
}

async function exported(query = {}): Promise<string[]> {
  const lines = await text(await rig.store.records.export({ kind: 'audit', format: 'ndjson', ...query }));
  return lines.split('\n').slice(0, -1);
}

async function leaves(): Promise<Buffer[]> {
  return hashesIn((await rig.store.log.tile({ level: 0, index: 0 })) ?? Buffer.alloc(0));
}

async function check(lines: readonly string[]) {
  const audit = new AuditExport();
  for (const line of lines) audit.add(line);
  for (const leaf of await leaves()) audit.see(leaf.toString('latin1'));
  return audit.verdict(origin);
}

const numbers = async (): Promise<number[]> =>
  (await rig.store.audit.list(1000)).map(({ seq }) => seq).sort((a, b) => a - b);

describe('the numbers of audit entries', () => {
  it('have no gaps where many write at once, and some of their transactions fail', async () => {
    const others = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const { user, password, host, port, database } = rig.client;
        const client = new pg.Client({
          user,
          host,
          port,
          ...(database && { database }),
          ...(password && { password }),
        });
        await client.connect();
        return client;
      }),
    );
    const insert = `insert into lodestone.audit (id, created_at, actor, action, subject, details) values ($1, now(), 'system', 'a', 'b', '{}')`;
    const writing = others.map(async (client, writer) => {
      for (let i = 0; i < 20; i++) {
        await client.query('begin');
        await client.query(insert, [`other-${writer}-${i}`]);
        await client.query(i % 3 === 0 ? 'rollback' : 'commit');
      }
    });
    await Promise.all([...writing, ...Array.from({ length: 30 }, () => record())]);
    await Promise.all(others.map((client) => client.end()));
    const seqs = await numbers();
    expect(seqs).toEqual(Array.from({ length: 30 + 3 * 13 }, (_, i) => i + 1));
  });

  it('are given to entries of a version that does not know them, with the account', async () => {
    await rig.client.query(
      `insert into lodestone.audit (id, created_at, actor, action, subject, details)
       values ('a', now(), 'operator', 'key.delete', 'k', '{"account_id": "acct-7"}'), ('b', now(), 'account:acct-8', 'policy.set', 'p', '{"x": "\\ud800"}')`,
    );
    const [b, a] = await rig.store.audit.list(2);
    expect([a!.seq, a!.accountId, b!.seq, b!.accountId]).toEqual([1, 'acct-7', 2, 'acct-8']);
    expect((await rig.store.audit.list(5, { accountId: 'acct-8' })).map(({ id }) => id)).toEqual(['b']);
  });
});

describe('the leaves of audit entries', () => {
  it('are canonical JSON with these members, in the order of the numbers, beside receipts', async () => {
    const sealer = rig.sealer();
    await sealer.round();
    await record({ by: 'admin_token', address: '192.0.2.7', details: { b: 1, a: 'é' }, createdAt: 1_700_000_000_123 });
    await rig.settle(3);
    await record({ actor: 'anonymous', action: 'admin.refused', subject: '192.0.2.9' });
    expect((await rig.store.log.status()).oldestUnsealedMs).toBe(1_700_000_000_123);
    await sealer.round();
    expect((await rig.store.log.status()).oldestUnsealedMs).toBeNull();
    await rig.expectWhole(5);
    const details = createHash('sha256').update('{"a":"é","address":"192.0.2.7","b":1}').digest('hex');
    const leaf =
      `{"account":"${anAccount}","action":"account.update","actor":"admin_token","at":"2023-11-14T22:13:20.123Z",` +
      `"details_sha256":"${details}","seq":1,"subject":"${anAccount}","type":"lodestone-audit/1"}`;
    const [second, first] = await rig.store.audit.list(2);
    const all = await leaves();
    expect(all[first!.leafIndex!]).toEqual(leafHash(Buffer.from(leaf)));
    expect(second!.leafIndex).toBeGreaterThan(first!.leafIndex!);
    await record();
    await sealer.round();
    await rig.expectWhole(6);
  });

  it('hide emails, names and addresses, and the export has the key and the clear text', async () => {
    const sealer = rig.sealer();
    await record({ action: 'invitation.create', subject: 'ada@example.com' });
    await record({ action: 'group.rename', subject: 'Ada Lovelace' });
    await record({ actor: 'anonymous', action: 'admin.refused', subject: '2001:db8::1' });
    await record({ action: 'hold.lift', subject: 'acme/meta/llama/defra' });
    await sealer.round();
    const [head, ...rows] = (await exported()).map((line) => JSON.parse(line));
    expect(head).toEqual({
      type: 'lodestone-audit-export/1',
      origin,
      hmac_key: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(rows.map(({ clear }) => clear?.subject)).toEqual([
      'ada@example.com',
      'Ada Lovelace',
      '2001:db8::1',
      undefined,
    ]);
    expect(rows[3].subject).toBe('acme/meta/llama/defra');
    const all = (await leaves()).map((leaf) => leaf.toString('hex'));
    for (const { id: _, details, clear: __, ...leaf } of rows) {
      expect(JSON.stringify(leaf)).not.toMatch(/ada@|lovelace|2001:db8/i);
      expect(all).toContain(leafHash(Buffer.from(canonicalJson(leaf))).toString('hex'));
      expect(leaf.details_sha256).toBe(createHash('sha256').update(canonicalJson(details)).digest('hex'));
    }
  });

  it('are made of entries with half a character too', async () => {
    const sealer = rig.sealer();
    await record({ details: { name: 'x\ud800y', '\udc00': ['\ud800'] } });
    await sealer.round();
    expect(rig.warned).toEqual([]);
    expect(await check(await exported())).toMatchObject({ faults: [] });
  });
});

describe('an export of the audit log', () => {
  async function sealedEntries(count: number): Promise<string[]> {
    const sealer = rig.sealer();
    for (let i = 0; i < count; i++) await record({ details: { n: i }, address: '192.0.2.1' });
    await record({ action: 'invitation.create', subject: 'ada@example.com' });
    await sealer.round();
    return exported();
  }
  const changed = (line: string, change: object) => JSON.stringify({ ...JSON.parse(line), ...change });

  it('holds, whole and in part, and names what was removed, changed or added', async () => {
    const lines = await sealedEntries(6);
    expect(await check(lines)).toMatchObject({
      faults: [],
      checked: [/1 to 7/, /7 entries/].map((t) => expect.stringMatching(t)),
    });
    const part = await exported({ after: JSON.parse(lines[3]!).id });
    expect(part).toEqual(lines.slice(4));
    expect(await check([lines[0]!, ...part])).toMatchObject({ faults: [] });
    const faultsOf = async (edit: (copy: string[]) => void) => {
      const copy = [...lines];
      edit(copy);
      return (await check(copy)).faults.join('\n');
    };
    expect(await faultsOf((copy) => copy.splice(4, 1))).toMatch(/^Entry 4 is missing\.$/);
    expect(await faultsOf((copy) => copy.splice(3, 3))).toMatch(/^Entries 3 to 5 are missing\.$/);
    const row = JSON.parse(lines[5]!);
    for (const change of [
      ...[
        { actor: 'system' },
        { at: '2020-01-01T00:00:00.000Z' },
        { account: null },
        { action: 'x' },
        { subject: 'y' },
      ],
      ...[{ details: { n: 99 } }, { details_sha256: row.details_sha256.replace(/./, 'z') }, { type: 'other' }],
      ...[
        { extra: 1 },
        { logged: false },
        { clear: { subject: 'z' } },
        { details: { ...row.details, address: '192.0.2.2' } },
      ],
    ])
      expect([change, await faultsOf((copy) => copy.splice(5, 1, changed(lines[5]!, change)))]).toEqual([
        change,
        expect.stringMatching(/^Entry 5 /),
      ]);
    expect(
      await faultsOf((copy) => copy.splice(7, 1, changed(lines[7]!, { clear: { subject: 'eve@example.com' } }))),
    ).toMatch(/^Entry 7 has another subject/);
    expect(await faultsOf((copy) => copy.push(changed(lines[6]!, { seq: 8 })))).toMatch(/^Entry 8 is not in the log/);
    expect(await faultsOf((copy) => copy.splice(3, 0, lines[3]!))).toMatch(/^Entry 3 stands there twice/);
    expect(await faultsOf((copy) => copy.shift())).toMatch(/first line/);
    expect(await faultsOf((copy) => copy.splice(0, 1, changed(copy[0]!, { origin: 'else.example/log' })))).toMatch(
      /of the log else\.example/,
    );
  });

  it('that was made of a changed store is found, and so is the store', async () => {
    await sealedEntries(3);
    await rig.client.query(`update lodestone.audit set actor = 'system' where seq = 2`);
    expect((await check(await exported())).faults).toEqual([expect.stringMatching(/^Entry 2 is not in the log/)]);
    await rig.client.query(`delete from lodestone.audit where seq = 3`);
    expect((await check(await exported())).faults).toContain('Entry 3 is missing.');
    const { faults } = await rig.store.records.check();
    expect(faults.map(({ what, where }) => [what, where])).toEqual([
      ['entry of the audit log', '3'],
      ['entry of the audit log and its leaf', '2'],
    ]);
  });

  it('of a period has the entries in between too, so that no number is missing', async () => {
    for (const createdAt of [1000, 3000, 2000, 4000, 5000]) await record({ createdAt });
    await rig.sealer().round();
    const rows = (await exported({ fromMs: 2500, toMs: 4500 })).slice(1).map((line) => JSON.parse(line).seq);
    expect(rows).toEqual([2, 3, 4]);
  });
});
