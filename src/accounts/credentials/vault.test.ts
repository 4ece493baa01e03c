/** Sealed secrets: whose they are, what opens them, and the replacement of the key while it is killed at any point. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { memoryCredentials } from '../../../tests/support/memory-credentials.js';
import { silentLogger } from '../../base/logger.js';
import { NotOpened, open, seal } from '../../base/sealed-secret.js';
import type { OwnCredential } from '../../domain/credential.js';
import { KeyRing, keptKeyFiles, makeKeyFile, readKeyFile } from './key-ring.js';
import { masked } from './own-candidates.js';
import { rotateSecrets } from './rotate-secrets.js';
import { Vault } from './vault.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lodestone-vault-'));
  file = join(folder, 'secrets.key');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const api_key = 'a-secret-of-a-customer';
const owner = { accountId: 'acct-1', id: 'cred-1' };

function opened(store = memoryCredentials()) {
  const ring = new KeyRing({ keyFile: file, previousKeyFiles: [] });
  ring.load();
  let nowMs = 0;
  const vault = new Vault({ ring, store, logger: silentLogger, nowMs: () => (nowMs += 10_000) });
  return { ring, store, vault };
}

async function stored(count: number) {
  makeKeyFile(file);
  const parts = opened();
  for (let n = 0; n < count; n++) {
    const own = { accountId: 'acct-1', id: `cred-${n}` };
    const secret = await parts.vault.seal({ api_key: `${api_key}-${n}` }, own);
    const credential: OwnCredential = {
      ...{ ...own, projectId: null, provider: `p${n}`, name: 'n', use: 'only', models: null, agreement: null },
      ...{ fingerprint: '00000000', revision: 1, secret, createdAt: n },
    };
    expect(await parts.store.create(credential, 50)).toBe('created');
  }
  return parts;
}

describe('a sealed secret', () => {
  const key = { id: 'k', bytes: Buffer.alloc(32, 7) };

  it('opens for its owner alone, and with its key alone', () => {
    const sealed = seal(api_key, owner, key);
    expect(open(sealed, owner, key)).toBe(api_key);
    expect(() => open(sealed, { ...owner, accountId: 'acct-2' }, key)).toThrow(NotOpened);
    expect(() => open(sealed, { ...owner, id: 'cred-2' }, key)).toThrow(NotOpened);
    expect(() => open(sealed, owner, { id: 'k', bytes: Buffer.alloc(32, 8) })).toThrow(NotOpened);
    const other = seal('another', { ...owner, id: 'cred-2' }, key);
    expect(() => open({ ...sealed, sealed: other.sealed }, owner, key)).toThrow(NotOpened);
  });

  it('has nothing of the secret in it, and is another one each time', () => {
    const [one, two] = [seal(api_key, owner, key), seal(api_key, owner, key)];
    expect(one.sealed).not.toBe(two.sealed);
    const bytes = Buffer.from(one.sealed, 'base64');
    for (const form of [api_key, Buffer.from(api_key).toString('base64'), Buffer.from(api_key).toString('hex')])
      for (const text of [JSON.stringify(one), bytes.toString('latin1')]) expect(text).not.toContain(form);
  });
});

describe('the key file', () => {
  it('is made once, for its user alone', () => {
    makeKeyFile(file);
    const made = readFileSync(file, 'utf8');
    makeKeyFile(file);
    expect(readFileSync(file, 'utf8')).toBe(made);
    expect(typeof readKeyFile(file)).toBe('object');
    chmodSync(file, 0o644);
    expect(readKeyFile(file)).toContain('chmod 600');
  });

  it.each(['', 'short', Buffer.alloc(31).toString('base64'), `${Buffer.alloc(32).toString('base64')}\nmore`])(
    'is refused with the content %j',
    (content) => {
      writeFileSync(file, content, { mode: 0o600 });
      expect(readKeyFile(file)).toContain('openssl rand -base64 32');
    },
  );

  it('is missing: nothing is stored, and the refusal says what to do', async () => {
    await expect(opened().vault.seal({ api_key }, owner)).rejects.toMatchObject({ condition: 'secrets_key_missing' });
  });

  it('was swapped: stored secrets do not open, nothing new is stored, and all is well when it is back', async () => {
    const { store } = await stored(1);
    const right = readFileSync(file);
    rmSync(file);
    makeKeyFile(file);
    const { vault } = opened(store);
    const { credential } = (await store.list('acct-1'))[0]!;
    expect(() => vault.secretOf(credential)).toThrow('Tell the operator');
    await expect(vault.reopen(credential)).rejects.toThrow('Tell the operator');
    expect(vault.faults.size).toBe(1);
    await expect(vault.seal({ api_key }, owner)).rejects.toMatchObject({ condition: 'secrets_key_missing' });
    writeFileSync(file, right, { mode: 0o600 });
    expect(await vault.reopen(credential)).toEqual({ api_key: `${api_key}-0` });
    expect(vault.faults.size).toBe(0);
  });

  it('a fault ends when the key is back, or when another process has deleted the credential', async () => {
    const { store } = await stored(2);
    const right = readFileSync(file);
    rmSync(file);
    const { vault } = opened(store);
    const all = (await store.list('acct-1')).map(({ credential }) => credential);
    for (const credential of all) await expect(vault.reopen(credential)).rejects.toThrow('Tell the operator');
    await store.delete('acct-1', all[0]!.id);
    await vault.retryFaults();
    expect([...vault.faults.keys()]).toEqual([all[1]!.id]);
    writeFileSync(file, right, { mode: 0o600 });
    await vault.retryFaults();
    expect(vault.faults.size).toBe(0);
  });
});

it('at most 10,000 secrets are in memory: those that were used last', async () => {
  const { ring, vault } = await stored(1);
  const sealedOf = (n: number) => {
    const of = { accountId: 'acct-1', id: `cred-many-${n}` };
    return { ...of, secret: seal(JSON.stringify({ api_key: `key-${n}` }), of, ring.current!) };
  };
  const [first, second] = [sealedOf(0), sealedOf(1)];
  const opened = [first, second].map((each) => vault.secretOf(each));
  for (let n = 2; n < 10_000; n++) vault.secretOf(sealedOf(n));
  expect(vault.secretOf(first)).toBe(opened[0]);
  vault.secretOf(sealedOf(10_000));
  expect([vault.size, vault.secretOf(first) === opened[0]]).toEqual([10_000, true]);
  const again = vault.secretOf(second);
  expect([vault.size, again, again === opened[1]]).toEqual([10_000, { api_key: 'key-1' }, false]);
});

describe('a rotation', () => {
  it('leaves every secret under the new key alone', async () => {
    const { ring, store } = await stored(5);
    const before = ring.current!.id;
    const rotated = await rotateSecrets(ring, store);
    expect(rotated).toEqual({ keyId: expect.not.stringMatching(before), wrapped: 5, failed: [] });
    expect(keptKeyFiles(file)).toEqual([]);
    const { vault } = opened(store);
    for (const { credential } of await store.list('acct-1')) {
      expect(credential.secret.keyId).toBe(rotated.keyId);
      expect(vault.secretOf(credential).api_key).toContain(api_key);
    }
  });

  it('that is killed at any step goes on when it is run again, and loses nothing', async () => {
    for (let step = 0; step < 12; step++) {
      rmSync(folder, { recursive: true, force: true });
      folder = mkdtempSync(join(tmpdir(), 'lodestone-vault-'));
      file = join(folder, 'secrets.key');
      const { ring, store } = await stored(5);
      let calls = 0;
      const killed = new Proxy(store, {
        get: (target, name: keyof typeof store) =>
          typeof target[name] === 'function'
            ? (...values: never[]) => {
                if (calls++ === step) throw new Error('killed');
                return (target[name] as (...all: never[]) => unknown)(...values);
              }
            : target[name],
      });
      await rotateSecrets(ring, killed).catch(() => {});
      // A gateway that starts in between opens all of them.
      const between = opened(store).vault;
      for (const { credential } of await store.list('acct-1')) await between.reopen(credential);
      const { keyId } = await rotateSecrets(opened(store).ring, store);
      const { vault, ring: last } = opened(store);
      expect([last.current!.id, keptKeyFiles(file), existsSync(`${file}.new`)]).toEqual([keyId, [], false]);
      for (const { credential } of await store.list('acct-1')) {
        expect(credential.secret.keyId).toBe(keyId);
        expect(vault.secretOf(credential).api_key).toContain(api_key);
      }
    }
  });

  it('keeps the old keys while a secret opens with none', async () => {
    const { ring, store } = await stored(2);
    const { credential } = (await store.list('acct-1'))[0]!;
    const from = { id: credential.id, accountId: 'acct-1', ...credential.secret };
    await store.rewrap(from, { ...credential.secret, keyId: 'lost' });
    const { failed, wrapped } = await rotateSecrets(ring, store);
    expect([failed, wrapped, keptKeyFiles(file).length]).toEqual([[credential.id], 1, 1]);
  });
});

describe('what a provider says', () => {
  it.each([
    [`no such key ${api_key}!`, 'no such key […]!'],
    [`it is ${api_key.slice(0, 12)}…`, 'it is […]'],
    ['nothing of it', 'nothing of it'],
  ])('%j is masked', (text, expected) => expect(masked(text, { api_key })).toBe(expected));
});
