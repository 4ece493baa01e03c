import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { MemoryVersions } from '../../tests/support/memory-versions.js';
import { AuditLog } from '../accounts/audit.js';
import { KeyRing, makeKeyFile } from '../accounts/credentials/key-ring.js';
import { Sightings } from '../accounts/credentials/sightings.js';
import { Vault } from '../accounts/credentials/vault.js';
import { AccountDirectory } from '../accounts/directory.js';
import { defaultPolicy } from '../policy/policy.js';
import { StoreUnavailable } from '../storage/store.js';
import { FleetIdentities } from './fleet-identities.js';
import { UnsettledCharges } from './unsettled-charges.js';

const logger = { info() {}, warn() {}, error() {}, debug() {} } as never;

/** Two processes on one store and one shared state. */
async function twoProcesses() {
  const store = new MemoryStore();
  const versions = new MemoryVersions();
  const clock = new ManualClock();
  const process = () => {
    const charges = new UnsettledCharges();
    const identities = new FleetIdentities({
      store,
      versions,
      charges,
      replayed: async () => {},
      settled: async () => {},
    });
    const audit = new AuditLog(store.audit, clock, logger);
    return { identities, charges, directory: new AccountDirectory({ store, clock, audit, logger, identities }) };
  };
  const [a, b] = [process(), process()];
  const account = await a.directory.createAccount('operator', { email: 'a@example.com' });
  const { key } = await a.directory.createKey('operator', { accountId: account.id, name: 'k', expiresAt: null });
  return { store, versions, a, b, accountId: account.id, keyId: key.id };
}

/** Whether the process would use what it holds without reading the store. */
async function trusts(
  { identities }: { identities: FleetIdentities },
  versions: MemoryVersions,
  keyId: string,
): Promise<boolean> {
  const held = identities.held(keyId);
  if (!held) return false;
  const account = held.identity.account.id;
  const now = await versions.current([`key:${keyId}`, `account:${account}`]);
  return now !== null && held.version === now[0] && held.accountVersion === now[1];
}

describe('keys and accounts in a fleet', () => {
  it('are read once and then held, while nobody changes them', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    const identity = await b.directory.identities.load(keyId);
    store.away = true;
    expect(await b.directory.identities.load(keyId)).toBe(identity);
    expect(await trusts(b, versions, keyId)).toBe(true);
  });

  it('are not trusted once another process has deleted the key, and it is gone there on the next request', async () => {
    const { versions, a, b, accountId, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    expect(await a.directory.deleteKey('operator', accountId, keyId)).toBe(true);
    expect(await trusts(b, versions, keyId)).toBe(false);
    expect(await b.directory.identities.load(keyId)).toBeNull();
  });

  it('have the new terms of a key on its next request, after another process has changed them', async () => {
    const { versions, a, b, accountId, keyId } = await twoProcesses();
    const before = await b.directory.identities.load(keyId);
    await a.directory.updateKey('operator', accountId, keyId, { terms: { disabled: true, limitPico: 5n } });
    expect(await trusts(b, versions, keyId)).toBe(false);
    expect((await b.directory.identities.load(keyId))?.key.terms).toMatchObject({ disabled: true, limitPico: 5n });
    expect(before?.key.terms.disabled).toBe(false);
  });

  it('leave no secret of a credential in memory that another process has replaced or deleted', async () => {
    const { store, a, b, accountId, keyId } = await twoProcesses();
    const folder = mkdtempSync(join(tmpdir(), 'lodestone-fleet-'));
    const keyFile = join(folder, 'secrets.key');
    makeKeyFile(keyFile);
    const vaults = [a, b].map(({ directory }) => {
      const ring = new KeyRing({ keyFile, previousKeyFiles: [] });
      ring.load();
      const vault = new Vault({ ring, store: store.credentials, logger, nowMs: () => 0 });
      directory.credentials.parts = { vault, sightings: new Sightings(store.credentials, new ManualClock(), logger) };
      return vault;
    });
    const account = (await a.directory.account(accountId))!;
    const secretOf = (n: number) => ({ sent: { n }, kept: { api_key: `key-${n}` } });
    const fields = { projectId: null, name: 'n', use: 'only', models: null, agreement: null } as const;
    for (const n of [0, 1, 2]) {
      const made = { ...fields, provider: `p${n}`, secret: secretOf(n) };
      await a.directory.credentials.create('operator', account, made);
    }
    const useAll = async () => {
      const own = (await b.directory.identities.load(keyId))!.account.credentials;
      for (const credential of own) vaults[1]!.secretOf(credential);
      return own.map(({ id }) => id);
    };
    const [kept, replaced, deleted] = await useAll();
    expect(vaults[1]!.size).toBe(3);
    await a.directory.credentials.update('operator', account, replaced!, { secret: secretOf(9) });
    await a.directory.credentials.update('operator', account, kept!, { name: 'other' });
    await a.directory.credentials.delete('operator', account, deleted!);
    await b.directory.identities.load(keyId);
    expect(vaults[1]!.size, 'the one that is renamed').toBe(1);
    await useAll();
    expect(vaults[1]!.size).toBe(2);
    for (const id of [kept, replaced]) await a.directory.credentials.delete('operator', account, id!);
    await b.directory.identities.load(keyId);
    expect(vaults[1]!.size).toBe(0);
    rmSync(folder, { recursive: true });
  });

  it('are not trusted after a change of a key that the store did not answer', async () => {
    const { store, versions, a, b, accountId, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    await a.directory.identities.load(keyId);
    store.away = true;
    await expect(a.directory.updateKey('operator', accountId, keyId, {})).rejects.toThrow(StoreUnavailable);
    store.away = false;
    expect([await trusts(a, versions, keyId), await trusts(b, versions, keyId)]).toEqual([false, false]);
  });

  it('are read anew after a deletion whose process died before it could tell: by repeating it', async () => {
    const { store, versions, a, b, accountId, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    store.keyRows.delete(keyId);
    expect(await a.directory.deleteKey('operator', accountId, keyId)).toBe(false);
    expect(await trusts(b, versions, keyId)).toBe(false);
  });

  it.each([
    ['status', (d: AccountDirectory, id: string) => d.updateAccount('operator', id, { status: 'suspended' })],
    [
      'limits',
      (d: AccountDirectory, id: string) => d.updateAccount('operator', id, { limits: { requestsPerMinute: 7 } }),
    ],
    ['credit', (d: AccountDirectory, id: string) => d.postCredit('operator', id, 500n, null)],
    [
      'policy',
      async (d: AccountDirectory, id: string) =>
        d.setRouting((await d.account(id))!, { policy: { ...defaultPolicy, max_carbon: 9 } }),
    ],
    [
      'chain',
      async (d: AccountDirectory, id: string) => d.setRouting((await d.account(id))!, { fallback: ['auto/a/b'] }),
    ],
    [
      'alias',
      async (d: AccountDirectory, id: string) =>
        d.createAlias(
          (await d.account(id))!,
          { name: 'x', provider: 'auto', canonicalId: 'a/b', locode: null, createdAt: 1, updatedAt: 1 },
          5,
        ),
    ],
  ])('see another process’s change of %s on the next request, in the object that they share', async (_, change) => {
    const { store, a, b, accountId, keyId } = await twoProcesses();
    const before = (await b.directory.identities.load(keyId))!;
    await change(a.directory, accountId);
    const after = (await b.directory.identities.load(keyId))!;
    expect(after.account).toBe(before.account);
    expect(after.account).toEqual(await store.accounts.find(accountId));
  });

  it('keep both of two limits that two processes set at the same time', async () => {
    const { store, a, b, accountId } = await twoProcesses();
    await Promise.all([
      a.directory.updateAccount('operator', accountId, { limits: { requestsPerMinute: 7 } }),
      b.directory.updateAccount('operator', accountId, { limits: { tokensPerMinute: 9 } }),
    ]);
    expect(store.accountRows.get(accountId)!.limits).toEqual({ requestsPerMinute: 7, tokensPerMinute: 9 });
  });

  it('are read from the store by each request while shared state is away, and held again when it is back', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    versions.away = true;
    expect(b.identities.held(keyId)).toBeUndefined();
    store.keyRows.delete(keyId);
    expect(await b.directory.identities.load(keyId)).toBeNull();
  });

  it('are not trusted after an outage, even under the version of before it: it may have missed a change', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    versions.away = true;
    store.keyRows.delete(keyId);
    versions.away = false;
    expect(b.identities.held(keyId)).toBeUndefined();
    expect(await b.directory.identities.load(keyId)).toBeNull();
  });

  it('are trusted again after a moment without an answer, when the store is away too: the connection has stood', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    const identity = await b.directory.identities.load(keyId);
    store.away = true;
    versions.silent = true;
    await expect(b.directory.identities.load(keyId)).rejects.toThrow(StoreUnavailable);
    versions.silent = false;
    expect(await b.directory.identities.load(keyId)).toBe(identity);
  });

  it('are not trusted after shared state lost its memory', async () => {
    const { versions, b, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    versions.forget();
    expect(await trusts(b, versions, keyId)).toBe(false);
  });

  it('are an error while neither shared state nor the store can be reached, never an unknown key', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    versions.away = true;
    store.away = true;
    await expect(b.directory.identities.load(keyId)).rejects.toThrow(StoreUnavailable);
  });

  it('are held under no version when something was heard while they were read', async () => {
    const { store, versions, b, keyId } = await twoProcesses();
    await b.directory.identities.load(keyId);
    await versions.raise([`key:${keyId}`]);
    let release = () => {};
    store.hold = new Promise((resolve) => {
      release = resolve;
    });
    const reading = b.directory.identities.load(keyId);
    await new Promise((resolve) => setImmediate(resolve));
    b.identities.invalidate(`key:${keyId}`);
    release();
    await reading;
    expect(b.identities.held(keyId)).toBeUndefined();
  });
});

describe('a balance in a fleet', () => {
  it('is the store’s, less what this process has not settled yet', async () => {
    const { store, a, b, accountId, keyId } = await twoProcesses();
    const { account } = (await b.directory.identities.load(keyId))!;
    b.directory.identities.charge(accountId, 30n, 'gen-1', 0n);
    await a.directory.postCredit('operator', accountId, 100n, null);
    await b.directory.identities.load(keyId);
    expect(account).toMatchObject({ balancePico: 70n, usagePico: 30n });
    Object.assign(store.accountRows.get(accountId)!, { balancePico: 60n, usagePico: 40n });
    await b.identities.takeOverBalances([accountId]);
    expect(account).toMatchObject({ balancePico: 30n, usagePico: 70n });
  });

  it('that was read before the account was read once more is not taken over, and trusted by nobody', async () => {
    const { store, a, b, accountId, keyId } = await twoProcesses();
    const { account } = (await b.directory.identities.load(keyId))!;
    const { balances } = store.accounts;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    store.accounts.balances = async (ids) => {
      store.accounts.balances = balances;
      const read = await balances(ids);
      await released;
      return read;
    };
    const late = b.identities.takeOverBalances([accountId]);
    await a.directory.postCredit('operator', accountId, 100n, null);
    await b.directory.identities.load(keyId);
    release();
    await late;
    expect(account.balancePico).toBe(100n);
    expect(b.identities.held(keyId)).toBeUndefined();
  });

  it('is that of the ledger for whoever asks for the account, though others’ settlements raise no version', async () => {
    const { store, a, b, accountId } = await twoProcesses();
    await a.directory.postCredit('operator', accountId, 100n, null);
    const held = (await b.directory.account(accountId))!;
    b.directory.identities.charge(accountId, 5n, 'gen-1', 0n);
    const row = store.accountRows.get(accountId)!;
    Object.assign(row, { balancePico: 60n, usagePico: 40n });
    expect(await b.directory.account(accountId)).toBe(held);
    expect(held).toMatchObject({ balancePico: 55n, usagePico: 45n });
    store.away = true;
    expect(await b.directory.account(accountId)).toBe(held);
  });
});
