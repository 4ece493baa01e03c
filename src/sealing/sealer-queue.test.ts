import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useSealers } from '../../tests/support/sealer-rig.js';
import { systemClock } from '../base/time.js';
import { LogKeyFile } from './log-key.js';
import { rotateKey } from './rotate-key.js';

const rig = useSealers();

async function roundsUntil(isDone: () => Promise<boolean>, sealer = rig.sealer()): Promise<void> {
  for (let round = 0; round < 400 && !(await isDone()); round++) await sealer.round();
  expect(await isDone()).toBe(true);
}

const sizeIs = (size: number) => async () => (await rig.store.log.status()).size === size;

it('keeps the old key of an empty log listed after a change of key, and removes the old name of a key', async () => {
  await rig.sealer().round();
  const keyFile = new LogKeyFile(join(rig.folder, 'log-key'), true);
  const { previous, verifierKey } = await rotateKey({ store: rig.store.log, keyFile, clock: { now: () => 1 } });
  const { keys } = await rig.store.log.status();
  expect(keys).toMatchObject([
    { verifierKey: previous, toMs: expect.any(Number) },
    { verifierKey, toMs: null },
  ]);
  // The clock went back, the dates did not.
  expect(keys[1]!.fromMs).toBe(keys[0]!.toMs);
  expect(keys[1]!.fromMs).toBeGreaterThanOrEqual(keys[0]!.fromMs);
  await rig.sealer({ name: 'other.example.com/log' }).round();
  const renamed = await rig.store.log.status();
  expect(renamed.keys.map((key) => key.verifierKey.split('+')[0])).toEqual([
    'llm.example.com/log',
    'other.example.com/log',
  ]);
  const last = await rotateKey({ store: rig.store.log, keyFile, clock: systemClock });
  expect((await rig.store.log.status()).keys.at(-1)?.verifierKey).toBe(last.verifierKey);
});

it('takes new generations before those that wait longer', async () => {
  const old = await rig.settle(600, { createdAt: Date.now() - 86_400_000 });
  const [late] = await rig.settle(1);
  await rig.sealer().round();
  const leaf = await rig.store.log.leaf(late!, 'account-1');
  expect(leaf).toMatchObject({ leafIndex: expect.any(Number) });
  expect((leaf as { leafIndex: number }).leafIndex).toBeLessThan(512);
  await rig.expectWhole(old.length + 1);
});

it('has begun before it has sealed what waits', async () => {
  await rig.settle(3);
  await rig.client.query(
    'begin; select 1 from lodestone.unsealed for update; select 1 from lodestone.log_batches for update',
  );
  const starting = rig.sealer();
  starting.start();
  await starting.begun(60_000);
  // The first round still waits for the rows that are locked, and did not fail.
  expect(rig.warned).toEqual([]);
  expect(starting.identity()).not.toBeNull();
  expect(starting.figures()).toMatchObject({ size: 0, oldestUnsealedMs: expect.any(Number) });
  await rig.client.query('rollback');
  await starting.close();
  await roundsUntil(sizeIs(3));
});

it('looks for old generations while another process seals', async () => {
  await rig.store.log.setActive(false);
  await rig.settle(3);
  await rig.store.log.setActive(true);
  await rig.client.query('begin');
  // The whole look is one that waits: for a generation that somebody else is writing into the queue.
  await rig.client.query(
    'insert into lodestone.unsealed (id, account_id) select id, account_id from lodestone.generations',
  );
  let over = false;
  const looking = (async () => {
    for (let turn = 0; turn < 3; turn++) await rig.store.log.queueOld(Date.now());
    over = true;
  })();
  await rig.client.query('select pg_sleep(0.5)');
  expect(over).toBe(false);
  expect(await rig.store.log.seal(async () => 'sealed')).toBe('sealed');
  await rig.client.query('rollback');
  await looking;
  await roundsUntil(sizeIs(3));
});

it('switches the queue on again after a process without a log has switched it off, and finds what came in between', async () => {
  const running = rig.sealer();
  await rig.settle(2);
  await running.round();
  await rig.store.log.setActive(false);
  await rig.settle(3);
  await roundsUntil(sizeIs(5), running);
  expect(await rig.store.log.status()).toMatchObject({ active: true });
  await rig.settle(1);
  await running.round();
  await rig.expectWhole(6);
});

it('finds a generation whose settlement was under way when the queue was switched on', async () => {
  const running = rig.sealer();
  await rig.client.query('update lodestone.accounts set created_at = now()');
  await rig.store.log.setActive(false);
  await rig.settle(1);
  await running.round();
  await roundsUntil(async () => (await scan()).before === null, running);
  // It saw the queue switched off, and is written after the newest were looked at.
  await rig.client.query('alter table lodestone.generations disable trigger generations_queue_for_log');
  await rig.settle(1);
  await rig.client.query('alter table lodestone.generations enable trigger generations_queue_for_log');
  for (let round = 0; round < 5; round++) await running.round();
  expect((await rig.store.log.status()).size).toBe(1);
  await rig.client.query('update lodestone.log_state set again_at = now()');
  await roundsUntil(async () => !(await rig.store.log.status()).oldLeft, running);
  await running.round();
  await rig.expectWhole(2);
});

it('sets a generation aside that cannot be made into a receipt, seals the rest, and tries again after a start', async () => {
  const [bad] = await rig.settle(1);
  await rig.settle(3);
  await rig.client.query('update lodestone.generations set attempts = $1 where id = $2', ['{', bad]);
  const running = rig.sealer();
  expect(await running.round()).toBe(true);
  expect(running.figures()).toMatchObject({ size: 3, fault: 'row_bad', oldestUnsealedMs: null });
  expect(rig.told).toEqual([expect.stringContaining('set aside')]);
  expect(await rig.store.log.leaf(bad!, 'account-1')).toBe('unsealed');
  await rig.client.query('update lodestone.generations set attempts = $1 where id = $2', ['[]', bad]);
  const later = rig.sealer();
  await later.round();
  expect(later.figures()).toMatchObject({ size: 4, fault: null });
  await rig.expectWhole(4);
});

it('knows the log of a process that may seal where it has no key itself', async () => {
  await rig.settle(1);
  await rig.sealer().round();
  const { salt } = await rig.store.log.status();
  rmSync(join(rig.folder, 'log-key'));
  const stopped = rig.sealer();
  await stopped.round();
  expect(stopped.figures().fault).toBe('key_missing');
  expect(stopped.identity()).toEqual({ origin: 'llm.example.com/log', salt });
});

async function scan(): Promise<{ before: string | null }> {
  return (await rig.client.query('select old_before_ms as before from lodestone.log_state')).rows[0];
}
