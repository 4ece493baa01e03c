/** Leaves that come with their settlement, instead of through the queue. */
import { describe, expect, it } from 'vitest';
import { aGeneration } from '../../tests/support/generation.js';
import { origin, useSealers } from '../../tests/support/sealer-rig.js';
import { settlementRow } from '../domain/settlement-row.js';
import { leafHash } from '../proof/merkle.js';
import { receiptText } from '../proof/receipt.js';
import type { SealedLeaf } from '../storage/log-types.js';
import type { Sealer } from './sealer.js';

const rig = useSealers();
const account = 'account-1';

async function joined(options = {}): Promise<Sealer> {
  const sealer = rig.sealer(options);
  await sealer.round();
  rig.store.log.join(() => sealer.identity());
  return sealer;
}

const count = async (table: string): Promise<number> =>
  Number((await rig.client.query(`select count(*) as n from lodestone.${table}`)).rows[0].n);

describe('a settlement of a process that knows the log', () => {
  it('brings its leaves along: nothing is queued or stored for each generation, and each has its proof', async () => {
    const sealer = await joined();
    const ids = [...(await rig.settle(300)), ...(await rig.settle(1)), ...(await rig.settle(40, { billed: false }))];
    expect(await count('unsealed')).toBe(0);
    expect(await rig.store.log.leaf(ids[0]!, account)).toBe('unsealed');
    expect((await rig.store.log.status()).oldestUnsealedMs).toBeGreaterThan(Date.now() - 60_000);
    await sealer.round();
    expect(await count('receipts')).toBe(0);
    expect((await rig.store.log.status()).oldestUnsealedMs).toBeNull();
    await rig.expectWhole(341);
    const places = new Set<number>();
    for (const id of [ids[0]!, ids[299]!, ids[300]!, ids[340]!]) {
      const leaf = (await rig.store.log.leaf(id, account)) as SealedLeaf;
      expect(JSON.parse(leaf.receipt)).toMatchObject({ generation: id, gateway: origin });
      places.add(leaf.leafIndex);
    }
    expect(places.size).toBe(4);
    expect(await rig.store.log.leaf(ids[0]!, 'account-2')).toBeNull();
  });

  it('makes the same receipt from its line as from the stored row, whatever is in it', async () => {
    const sealer = await joined();
    const odd = aGeneration({
      createdAt: Date.now(),
      requestedModel: 'a\tb\\n\n"é漢\u2028😀\\',
      servedModel: null,
      provider: null,
      attempts: [
        { provider: 'p"\\', locode: 'x', outcome: 'time\tout', status: null, first_byte_ms: 0.5, error: 'é\n' },
      ],
      streamEnd: 'cut',
      proof: '[null,null,[["a",1]],["DE",null,12.5],null,"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]',
    });
    await rig.store.ledger.settle([settlementRow(odd)]);
    await sealer.round();
    const { receipt } = (await rig.store.log.leaf(odd.id, account)) as SealedLeaf;
    expect(receipt).toBe(receiptText(odd as Required<typeof odd>, sealer.identity()!));
    expect(leafHash(receipt)).toHaveLength(32);
    await rig.expectWhole(1);
  });

  it('takes each generation once where a part of the settlement was there before', async () => {
    const sealer = await joined();
    const rows = Array.from({ length: 6 }, () => settlementRow(aGeneration({ createdAt: Date.now() })));
    await rig.store.ledger.settle(rows.slice(0, 3));
    await rig.store.ledger.settle(rows);
    await rig.store.ledger.settle(rows);
    await sealer.round();
    await rig.expectWhole(6);
  });

  it('queues a generation that cannot be made into a receipt, and seals the others', async () => {
    const sealer = await joined();
    const bad = aGeneration({ createdAt: Date.now(), proof: '{' });
    await rig.store.ledger.settle([bad, aGeneration({ createdAt: Date.now() })].map(settlementRow));
    await sealer.round();
    expect(sealer.figures()).toMatchObject({ size: 1, fault: 'row_bad' });
    expect(await rig.store.log.leaf(bad.id, account)).toBe('unsealed');
    await rig.client.query('update lodestone.generations set proof = null where id = $1', [bad.id]);
    await rig.sealer().round();
    await rig.expectWhole(2);
  });

  it('no longer waits where none of its generations has a receipt, and the log does not grow', async () => {
    const sealer = await joined();
    await rig.settle(1);
    await sealer.round();
    const bad = aGeneration({ createdAt: Date.now(), proof: '{' });
    await rig.store.ledger.settle([settlementRow(bad)]);
    await sealer.round();
    await sealer.round();
    expect(await count('log_batches where first_leaf is null')).toBe(0);
    expect((await rig.store.log.status()).oldestUnsealedMs).toBeNull();
    expect(sealer.figures()).toMatchObject({ size: 1 });
    await rig.settle(1);
    await sealer.round();
    await rig.expectWhole(2);
  });

  it('goes through the queue while the log is not known, and beside a process without one', async () => {
    rig.store.log.join(() => null);
    await rig.settle(2);
    expect(await count('unsealed')).toBe(2);
    const sealer = await joined();
    await rig.settle(3);
    await sealer.round();
    await rig.expectWhole(5);
  });

  it('is made anew where an empty log has another name by the time it is sealed', async () => {
    await joined();
    await rig.settle(3);
    await rig.sealer({ name: 'other.example.com/log' }).round();
    for (let round = 0; round < 3; round++) await rig.sealer({ name: 'other.example.com/log' }).round();
    await rig.expectWhole(3);
    const { rows } = await rig.client.query('select receipt from lodestone.receipts');
    for (const { receipt } of rows) expect(JSON.parse(receipt).gateway).toBe('other.example.com/log');
  });

  it('has no proof where the stored generation was changed afterwards, and the check of the store names it', async () => {
    const sealer = await joined();
    const [first, second] = await rig.settle(2);
    await sealer.round();
    await rig.client.query(`update lodestone.generations set locode = 'usnyc' where id = $1`, [first]);
    expect(await rig.store.log.leaf(first!, account)).toBe('altered');
    expect(await rig.store.log.leaf(second!, account)).toMatchObject({ leafIndex: expect.any(Number) });
    const { faults } = await rig.store.records.check();
    expect(faults).toMatchObject([{ what: 'generation and its leaf in the log', where: first }]);
    await rig.client.query('delete from lodestone.generations where id = $1', [first]);
    expect((await rig.store.records.check()).faults.map(({ what }) => what)).toContain(
      'leaves of a settlement and its generations',
    );
  });

  it('of several processes at once is sealed once, and a cut-off sealing leaves it waiting', async () => {
    const fleet = [await joined({ own: 'a' }), rig.sealer({ own: 'b' }), rig.sealer({ own: 'c' })];
    for (let round = 0; round < 6; round++)
      await Promise.all([rig.settle(70), rig.settle(5), ...fleet.map((each) => each.round())]);
    await rig.client.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'cut'; end $$;
      create trigger refuse before update on lodestone.log_state for each row execute function public.refuse()`);
    await rig.settle(7);
    expect(await fleet[0]!.round()).toBe(false);
    await rig.client.query('drop trigger refuse on lodestone.log_state');
    while ((await rig.store.log.status()).oldestUnsealedMs !== null) await fleet[1]!.round();
    await rig.expectWhole(457);
  });
});
