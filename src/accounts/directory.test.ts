import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../tests/support/manual-clock.js';
import { MemoryStore } from '../../tests/support/memory-store.js';
import { silentLogger } from '../base/logger.js';
import { openTerms } from '../domain/account.js';
import { StoreUnavailable } from '../storage/store.js';
import { AuditLog } from './audit.js';
import { AccountDirectory } from './directory.js';

const clock = new ManualClock();
let store: MemoryStore;

function newDirectory(replayed?: () => Promise<void>): AccountDirectory {
  const audit = new AuditLog(store.audit, clock, silentLogger);
  return new AccountDirectory({ store, clock, audit, logger: silentLogger, ...(replayed && { replayed }) });
}

/** The store as an earlier process left it: one account with one key. */
async function stored() {
  const before = newDirectory();
  const account = await before.createAccount('operator', { email: 'a@example.com' });
  const { key, token } = await before.createKey('operator', { accountId: account.id, name: 'k', expiresAt: null });
  return { accountId: account.id, keyId: key.id, token };
}

beforeEach(() => {
  store = new MemoryStore();
});

describe('identities in memory', () => {
  it('reads a key once, however many ask for it at once, and then answers without the store', async () => {
    const { keyId } = await stored();
    const directory = newDirectory();
    expect(directory.identities.cached(keyId)).toBeUndefined();
    const [first, second] = await Promise.all([directory.identities.load(keyId), directory.identities.load(keyId)]);
    expect(first).toBe(second);
    store.away = true;
    expect(directory.identities.cached(keyId)).toBe(first);
  });

  it('shares one account object between its keys, the account calls and the list', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    const [identity, account, list] = await Promise.all([
      directory.identities.load(keyId),
      directory.account(accountId),
      directory.accounts(),
    ]);
    expect(identity!.account).toBe(account);
    expect(list[0]).toBe(account);
    const { key } = await directory.createKey('operator', { accountId: accountId, name: 'second', expiresAt: null });
    expect(directory.identities.cached(key.id)!.account).toBe(account);
  });

  it('does not cache an unknown key, and tells an absent store from an absent key', async () => {
    const directory = newDirectory();
    expect(await directory.identities.load('unknown')).toBeNull();
    store.away = true;
    await expect(directory.identities.load('unknown')).rejects.toThrow(StoreUnavailable);
    store.away = false;
    expect(await directory.identities.load('unknown')).toBeNull();
  });

  it('reads no account before the journal of the earlier process is in the store', async () => {
    const { accountId } = await stored();
    let finish = () => {};
    const directory = newDirectory(() => new Promise((resolve) => (finish = resolve)));
    const reading = directory.account(accountId);
    store.accountRows.get(accountId)!.balancePico = -5n;
    finish();
    expect((await reading)!.balancePico).toBe(-5n);
  });
});

describe('deleting a key', () => {
  it('wins over a read of the key that was under way', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    await directory.account(accountId);
    let release = () => {};
    store.hold = new Promise((resolve) => (release = resolve));
    const reading = directory.identities.load(keyId);
    await new Promise((resolve) => setImmediate(resolve));
    store.hold = Promise.resolve();
    expect(await directory.deleteKey('operator', accountId, keyId)).toBe(true);
    release();
    expect(await reading).toBeNull();
    expect(directory.identities.cached(keyId)).toBeUndefined();
    expect(await directory.identities.load(keyId)).toBeNull();
  });

  it('is false for a key of another account, whose key goes on working', async () => {
    const { keyId } = await stored();
    const directory = newDirectory();
    await directory.identities.load(keyId);
    const other = await directory.createAccount('operator', { email: 'b@example.com' });
    expect(await directory.deleteKey('operator', other.id, keyId)).toBe(false);
    expect(directory.identities.cached(keyId)).toBeDefined();
    expect(await directory.deleteKey('operator', other.id, 'unknown')).toBe(false);
  });

  it('forgets the key in memory when the store failed half-way, so that the next request asks the store', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    await directory.identities.load(keyId);
    store.away = true;
    await expect(directory.deleteKey('operator', accountId, keyId)).rejects.toThrow(StoreUnavailable);
    expect(directory.identities.cached(keyId)).toBeUndefined();
  });
});

describe('a changed key', () => {
  it('has its new terms at once, also where it is being read, and is not taken for unknown', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    await directory.account(accountId);
    let release = () => {};
    store.hold = new Promise((resolve) => (release = resolve));
    const reading = directory.identities.load(keyId);
    await new Promise((resolve) => setImmediate(resolve));
    store.hold = Promise.resolve();
    await directory.updateKey('operator', accountId, keyId, { terms: { disabled: true } });
    release();
    expect((await reading)?.key.terms.disabled).toBe(true);
    await directory.updateKey('operator', accountId, keyId, { terms: { disabled: false } });
    expect((await directory.identities.load(keyId))?.key.terms.disabled).toBe(false);
  });

  it('is forgotten in memory when the store failed half-way; null for a key of another account', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    await directory.identities.load(keyId);
    const other = await directory.createAccount('operator', { email: 'b@example.com' });
    expect(await directory.updateKey('operator', other.id, keyId, { name: 'x' })).toBeNull();
    store.away = true;
    await expect(directory.updateKey('operator', accountId, keyId, {})).rejects.toThrow(StoreUnavailable);
    expect(directory.identities.cached(keyId)).toBeUndefined();
  });

  it('shows its last use before the store has it, and writes it when the process ends', async () => {
    const { accountId, keyId } = await stored();
    const directory = newDirectory();
    directory.uses.note(keyId, 5000);
    expect((await directory.keyFigures(accountId)).get(keyId)?.lastUsedAt).toBe(5000);
    expect(store.keyUses.size).toBe(0);
    await directory.close();
    expect(store.keyUses.get(keyId)).toBe(5000);
  });
});

describe('changes are written through', () => {
  it('credits the store first, and memory only when the store has it', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    const account = (await directory.account(accountId))!;
    const entry = await directory.postCredit('operator', accountId, 10n, 'welcome');
    expect(entry).toMatchObject({ kind: 'credit', amountPico: 10n, balancePico: 10n, note: 'welcome' });
    expect((await directory.postCredit('operator', accountId, -3n, null)).kind).toBe('adjustment');
    store.away = true;
    await expect(directory.postCredit('operator', accountId, 100n, null)).rejects.toThrow(StoreUnavailable);
    expect(account.balancePico).toBe(7n);
  });

  it('charges at once and may go below zero', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    const account = (await directory.account(accountId))!;
    directory.identities.charge(accountId, 999n, 'gen-1', 0n);
    expect(account).toMatchObject({ balancePico: -999n, usagePico: 999n });
  });

  it('changes only the fields that are sent, and keeps the order of parallel changes', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    await Promise.all([
      directory.updateAccount('operator', accountId, { limits: { requestsPerMinute: 5 } }),
      directory.updateAccount('operator', accountId, { limits: { tokensPerMinute: 9 } }),
      directory.updateAccount('operator', accountId, { status: 'suspended' }),
    ]);
    const expected = { status: 'suspended', limits: { requestsPerMinute: 5, tokensPerMinute: 9 } };
    expect(await directory.account(accountId)).toMatchObject(expected);
    expect(store.accountRows.get(accountId)).toMatchObject(expected);
  });

  it('refuses changes to an unknown account, and a second account with the same email', async () => {
    await stored();
    const directory = newDirectory();
    await expect(directory.updateAccount('operator', 'nope', {})).rejects.toMatchObject({
      condition: 'resource_not_found',
    });
    await expect(
      directory.createKey('operator', { accountId: 'nope', name: 'k', expiresAt: null }),
    ).rejects.toMatchObject({
      condition: 'resource_not_found',
    });
    await expect(directory.createAccount('operator', { email: 'a@example.com' })).rejects.toMatchObject({
      condition: 'account_exists',
    });
  });

  it('writes an audit entry for each change, without a token or hash in it', async () => {
    const { token } = await stored();
    expect(store.auditRows.map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      'operator account.create',
      'operator key.create',
    ]);
    expect(JSON.stringify(store.auditRows)).not.toContain(token.slice(16));
  });

  it('names the fields of a key in the audit log as the API does', async () => {
    const directory = newDirectory();
    const account = await directory.createAccount('operator', { email: 'audited@example.com' });
    const expiresAt = Date.UTC(2027, 0, 1);
    const terms = { ...openTerms, limitPico: 2_500_000_000_000n, limitReset: 'daily' as const, requestsPerMinute: 5 };
    const { key } = await directory.createKey('operator', { accountId: account.id, name: 'k', expiresAt, terms });
    await directory.updateKey('operator', account.id, key.id, { terms: { allowedIps: ['10.0.0.0/8'] } });
    expect(store.auditRows.slice(-2).map(({ details }) => details)).toEqual([
      {
        ...{ account_id: account.id, name: 'k', expires_at: '2027-01-01T00:00:00.000Z', kind: 'inference' },
        ...{ disabled: false, limit_usd: '2.5', limit_reset: 'daily', allowed_models: null, allowed_providers: null },
        ...{ allowed_ips: null, requests_per_minute: 5, tokens_per_minute: null },
      },
      { account_id: account.id, allowed_ips: ['10.0.0.0/8'] },
    ]);
  });
});

/** The store makes the change but its answer is lost. The store then stays away until the test brings it back. */
function answerLost<Args extends unknown[], T>(call: (...args: Args) => Promise<T>): (...args: Args) => Promise<T> {
  return async (...args) => {
    await call(...args);
    store.away = true;
    throw new StoreUnavailable(new Error('Connection terminated unexpectedly'));
  };
}

describe('a change whose answer was lost', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is in memory when the store is back, with what was charged meanwhile: the balance is the ledger’s sum', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    const account = (await directory.account(accountId))!;
    store.ledger.post = answerLost(store.ledger.post);
    await expect(directory.postCredit('operator', accountId, 100n, null)).rejects.toThrow(StoreUnavailable);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(account.balancePico).toBe(0n);
    directory.identities.charge(accountId, 30n, 'gen-1', 0n);
    store.away = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect(account).toMatchObject({ balancePico: 70n, usagePico: 30n });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is no alias that can neither be used nor made again', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    const account = (await directory.account(accountId))!;
    const alias = { name: 'x', provider: 'auto', canonicalId: 'a/b', locode: null, createdAt: 1, updatedAt: 1 };
    store.aliases.create = answerLost(store.aliases.create);
    await expect(directory.createAlias(account, alias, 5)).rejects.toThrow(StoreUnavailable);
    store.away = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect([...account.aliases.keys()]).toEqual(['x']);
  });

  it('is looked for no more once the directory is closed', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    store.ledger.post = answerLost(store.ledger.post);
    await expect(directory.postCredit('operator', accountId, 100n, null)).rejects.toThrow(StoreUnavailable);
    directory.close();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('expired keys', () => {
  it('lose their hash in the store and in memory together', async () => {
    const { accountId } = await stored();
    const directory = newDirectory();
    const { key } = await directory.createKey('operator', {
      accountId: accountId,
      name: 'short',
      expiresAt: clock.now() + 1000,
    });
    expect(await directory.nextExpiry(clock.now())).toBe(clock.now() + 1000);
    expect(await directory.eraseExpired(clock.now() + 1000)).toBe(1);
    expect(directory.identities.cached(key.id)!.key.hash).toBeNull();
    expect(store.keyRows.get(key.id)!.hash).toBeNull();
  });
});
