/**
 * Opens sealed secrets when a call needs them, and keeps those that were used last. A secret that does not open is looked for again in the
 * key files and in the store, because a rotation may have changed both; then its credential fails, and nothing else does.
 */
import type { Logger } from '../../base/logger.js';
import { NotOpened, open, type SealedSecret, type SecretOwner, seal } from '../../base/sealed-secret.js';
import { type OwnCredential, type Secret, SecretUnavailable } from '../../domain/credential.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { CredentialStore } from '../../storage/credential-types.js';
import type { KeyRing } from './key-ring.js';

const openedMax = 10_000;
/** With fewer, none is forgotten soon, so their order does not matter yet. */
const orderedFrom = openedMax / 2;
const retriedAtOnce = 100;
/** Key files are not read for every request while a key is missing. */
const rereadMs = 1_000;

interface VaultDeps {
  readonly ring: KeyRing;
  readonly store: Pick<CredentialStore, 'find' | 'currentKey' | 'setCurrentKey'>;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

interface Opened {
  readonly sealed: string;
  readonly secret: Secret;
}

/** Its owner sees it: it says nothing about files. */
const unavailable = 'it cannot be opened, because the key that it is sealed with is missing. Tell the operator';

type Sealed = Pick<OwnCredential, 'id' | 'accountId' | 'secret'>;

export class Vault {
  /** Credentials that could not be opened, by id; empty while nothing is wrong. */
  readonly faults = new Map<string, Sealed>();
  /** The one that is forgotten next is the first. */
  private readonly opened = new Map<string, Opened>();
  private readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: VaultDeps) {}

  get size(): number {
    return this.opened.size;
  }

  /** The same object while the secret stays in memory. Throws SecretUnavailable where it does not open with the keys in memory. */
  secretOf(credential: Sealed): Secret {
    const { id, secret } = credential;
    const held = this.opened.get(id);
    if (held !== undefined && held.sealed === secret.sealed) {
      if (this.opened.size > orderedFrom) {
        this.opened.delete(id);
        this.opened.set(id, held);
      }
      return held.secret;
    }
    return this.keep(id, secret.sealed, this.openNow(secret, credential));
  }

  /** The same, after the key files and the row were read again. Rejects with SecretUnavailable. */
  async reopen(credential: Sealed): Promise<Secret> {
    const { id, accountId, secret } = credential;
    this.readFiles();
    const stored = await this.deps.store.find(accountId, id).catch(() => null);
    const current = stored?.credential.secret;
    const wrapped = current !== undefined && current.sealed === secret.sealed ? current : secret;
    try {
      const opened = this.keep(id, secret.sealed, this.openNow(wrapped, credential));
      this.faults.delete(id);
      return opened;
    } catch (error) {
      if (!this.faults.has(id)) {
        const fields = { credential: id, account: accountId, key: secret.keyId, file: this.deps.ring.files.keyFile };
        this.deps.logger.error(
          fields,
          'a credential of a customer cannot be opened: give the key that it was sealed with in secrets.key_file or secrets.previous_key_files',
        );
      }
      this.faults.set(id, credential);
      throw error;
    }
  }

  /** Tries again what could not be opened, and forgets what is gone: another process may have changed or deleted it. */
  async retryFaults(): Promise<void> {
    for (const { id, accountId } of [...this.faults.values()].slice(0, retriedAtOnce)) {
      const stored = await this.deps.store.find(accountId, id);
      if (stored === null) this.drop(id);
      else
        await this.reopen(stored.credential).catch((error: unknown) => {
          if (!(error instanceof SecretUnavailable)) throw error;
        });
    }
  }

  /** Seals a secret with the current key. Throws secrets_key_missing. */
  async seal(secret: Secret, owner: SecretOwner): Promise<SealedSecret> {
    const { ring, store } = this.deps;
    const stated = await store.currentKey();
    // After the store was asked: a rotation changes the file first.
    ring.load();
    const { current } = ring;
    if (!current) throw gatewayError('secrets_key_missing', { fault: ring.fault });
    if (stated !== current.id) {
      // Another key than the last one: fine while that one can still be read, as after a rotation by hand.
      if (stated !== null && !ring.byId(stated)) {
        const fault = `${ring.files.keyFile}: it holds another key than the one that stored credentials are sealed with. Put that key back, or name its file in secrets.previous_key_files`;
        throw gatewayError('secrets_key_missing', { fault });
      }
      await store.setCurrentKey(current.id);
    }
    return seal(JSON.stringify(secret), owner, current);
  }

  /** The credential is changed or gone. */
  drop(id: string): void {
    this.opened.delete(id);
    this.faults.delete(id);
  }

  private keep(id: string, sealed: string, secret: Secret): Secret {
    this.opened.delete(id);
    this.opened.set(id, { sealed, secret });
    if (this.opened.size > openedMax) {
      for (const oldest of this.opened.keys()) {
        this.opened.delete(oldest);
        break;
      }
    }
    return secret;
  }

  private openNow(secret: SealedSecret, owner: SecretOwner): Secret {
    const key = this.deps.ring.byId(secret.keyId);
    if (key === undefined) throw new SecretUnavailable(unavailable);
    try {
      return JSON.parse(open(secret, owner, key)) as Secret;
    } catch (error) {
      if (error instanceof NotOpened) throw new SecretUnavailable(unavailable);
      throw error;
    }
  }

  private readFiles(): void {
    const nowMs = this.deps.nowMs();
    if (nowMs - this.readAtMs < rereadMs) return;
    this.readAtMs = nowMs;
    this.deps.ring.load();
  }
}
