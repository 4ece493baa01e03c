import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { origin, useSealers } from '../../tests/support/sealer-rig.js';
import { systemClock } from '../base/time.js';
import { newSigner } from '../proof/note.js';
import { LogKeyFile } from './log-key.js';
import { rotateKey } from './rotate-key.js';

const rig = useSealers();

describe('the sealer', () => {
  it('begins an empty log with a key of its own, which only its user can read', async () => {
    expect(await rig.sealer().round()).toBe(true);
    const { size, checkpoint, keys } = await rig.store.log.status();
    expect(size).toBe(0);
    expect(checkpoint).toContain(`${origin}\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n`);
    expect(keys).toHaveLength(1);
    expect(statSync(join(rig.folder, 'log-key')).mode & 0o777).toBe(0o600);
  });

  it('takes each generation once, however many processes seal at once', async () => {
    const fleet = [rig.sealer({ own: 'a' }), rig.sealer({ own: 'b' }), rig.sealer({ own: 'c' })];
    for (const each of fleet) await each.round();
    for (let round = 0; round < 6; round++) {
      await Promise.all([rig.settle(70), ...fleet.map((each) => each.round())]);
    }
    while ((await rig.store.log.status()).oldestUnsealedMs !== null) await fleet[1]!.round();
    await rig.expectWhole(420);
    expect(rig.told).toEqual([]);
  });

  it('goes on after another process has sealed, and after its own end', async () => {
    await rig.settle(3);
    await rig.sealer().round();
    await rig.settle(300);
    await rig.sealer({ own: 'b' }).round();
    await rig.settle(2);
    await rig.sealer().round();
    await rig.expectWhole(305);
  });

  it('finds the generations of a time without the log', async () => {
    await rig.store.log.setActive(false);
    await rig.settle(5);
    const later = rig.sealer();
    for (let round = 0; round < 8; round++) await later.round();
    await rig.expectWhole(5);
  });

  it('leaves everything as it was where its transaction is cut off', async () => {
    const [id] = await rig.settle(4);
    await rig.sealer().round();
    await rig.settle(4);
    await rig.client.query(`create function public.refuse() returns trigger language plpgsql as $$ begin raise exception 'cut'; end $$;
      create trigger refuse before update on lodestone.log_state for each row execute function public.refuse()`);
    expect(await rig.sealer().round()).toBe(false);
    await rig.client.query('drop trigger refuse on lodestone.log_state');
    expect((await rig.store.log.status()).size).toBe(4);
    // More than once: the server tells of the error before it gives back the lock of the transaction that failed.
    const sizeAfterRound = async () => {
      await rig.sealer().round();
      return (await rig.store.log.status()).size;
    };
    await expect.poll(sizeAfterRound, { timeout: 20_000 }).toBe(8);
    await rig.expectWhole(8);
    expect(await rig.store.log.leaf(id!, 'account-1')).toMatchObject({ leafIndex: expect.any(Number) });
  });

  it.each([
    ['the database was put back to an earlier state', 4, 'fewer receipts than were published'],
    ['the database was put back and went on', 9, 'not those that were published'],
  ])('stops where %s', async (_, size, text) => {
    await rig.settle(4);
    await rig.sealer().round();
    const dump = async (table: string) => (await rig.client.query(`select * from lodestone.${table}`)).rows;
    const [state] = await dump('log_state');
    const tiles = await dump('log_tiles');
    await rig.settle(3);
    await rig.sealer().round();
    await rig.client.query('update lodestone.log_state set size = $1, root = $2, checkpoint = $3', [
      ...[state.size, state.root, state.checkpoint],
    ]);
    await rig.client.query('update lodestone.log_tiles set hashes = $1', [tiles[0].hashes]);
    await rig.client.query('delete from lodestone.receipts where leaf_index >= 4');
    // A process of a machine that has not seen what was published would go on.
    if (size > 4) {
      await rig.settle(size - 4);
      await rig.sealer({ own: 'elsewhere' }).round();
    }
    await rig.settle(1);
    const stopped = rig.sealer();
    stopped.start();
    await stopped.begun(60_000);
    expect(stopped.figures().fault).toBe(size > 4 ? 'forked' : 'store_behind');
    expect(stopped.identity()).toBeNull();
    await stopped.close();
    expect(rig.told).toEqual([expect.stringContaining(text)]);
    expect((await rig.store.log.status()).size).toBe(size);
  });

  it('makes no other key for one that is lost, and serves on', async () => {
    await rig.settle(2);
    await rig.sealer().round();
    rmSync(join(rig.folder, 'log-key'));
    await rig.settle(1);
    const stopped = rig.sealer();
    expect(await stopped.round()).toBe(false);
    expect(stopped.figures()).toMatchObject({ fault: 'key_missing', size: 2 });
    expect((await rig.store.log.status()).size).toBe(2);
  });

  it('makes none where the operator names a file', async () => {
    const stopped = rig.sealer({ mayCreate: false });
    expect(await stopped.round()).toBe(false);
    expect(stopped.figures().fault).toBe('key_missing');
    writeFileSync(join(rig.folder, 'log-key'), `${newSigner(origin).text}\n`);
    expect(await stopped.round()).toBe(true);
    expect(stopped.figures().fault).toBeNull();
  });

  it('does not seal with another key or under another origin, and says which it should be', async () => {
    await rig.settle(2);
    await rig.sealer().round();
    const own = readFileSync(join(rig.folder, 'log-key'));
    writeFileSync(join(rig.folder, 'log-key'), newSigner(origin).text);
    const other = rig.sealer();
    await other.round();
    expect(other.figures().fault).toBe('key_other');
    writeFileSync(join(rig.folder, 'log-key'), own);
    const moved = rig.sealer({ name: 'other.example.com/log' });
    await moved.round();
    expect(moved.figures().fault).toBe('origin_other');
    expect(rig.told[1]).toContain(`Set proof.origin to the origin of the log`);
    expect(rig.told[1]).toContain(origin);
    await rig.settle(1);
    await rig.sealer().round();
    await rig.expectWhole(3);
  });

  it('goes on with a new key while processes run, also where the change was cut off in the middle', async () => {
    const running = rig.sealer();
    await rig.settle(2);
    await running.round();
    const keyFile = new LogKeyFile(join(rig.folder, 'log-key'), true);
    const first = await rotateKey({ store: rig.store.log, keyFile, clock: systemClock });
    await rig.settle(2);
    await running.round();
    expect((await rig.store.log.status()).keys.map(({ verifierKey }) => verifierKey)).toEqual([
      ...[first.previous, first.verifierKey],
    ]);
    await rig.expectWhole(4);
    // The process died after the store had the key, before the file was put in place.
    const cut = Object.assign(new LogKeyFile(join(rig.folder, 'log-key'), true), { useNext: () => {} });
    const second = await rotateKey({ store: rig.store.log, keyFile: cut, clock: systemClock });
    await rig.settle(1);
    await running.round();
    expect((await rig.store.log.status()).keys.at(-1)).toMatchObject({ verifierKey: second.verifierKey, toMs: null });
    expect(keyFile.read()).toMatchObject({ verifier: { text: second.verifierKey } });
    await rig.expectWhole(5);
  });
});
