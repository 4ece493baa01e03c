/** Creates, changes and deletes the credentials of accounts and projects: sealed first in the store, then in memory, then in the audit log. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../base/canonical-json.js';
import { timeOrderedId } from '../../base/ids.js';
import type { SealedSecret, SecretOwner } from '../../base/sealed-secret.js';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { noCredentials, type OwnCredential, type Secret } from '../../domain/credential.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Store, StoredCredential } from '../../storage/store.js';
import type { AccountChanges } from '../account-changes.js';
import type { Actor, AuditLog } from '../audit.js';
import type { Identities } from '../identities.js';
import type { Sightings } from './sightings.js';
import type { Vault } from './vault.js';

/** The most credentials that an account may have, those of its projects included. */
const credentialsMax = 50;
/** A rotation of the operator's key may come in between. */
const attemptsMax = 3;

export interface NewCredential
  extends Pick<OwnCredential, 'provider' | 'projectId' | 'name' | 'use' | 'models' | 'agreement'> {
  readonly secret: SentSecret;
}

/** A checked secret. */
export interface SentSecret {
  /** As it was sent, of which the fingerprint is made. */
  readonly sent: unknown;
  /** What of it is used. */
  readonly kept: Secret;
}

export type CredentialFields = Partial<Pick<NewCredential, 'name' | 'use' | 'models' | 'agreement' | 'secret'>>;

interface CredentialBookDeps {
  readonly store: Pick<Store, 'credentials'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly audit: AuditLog;
  readonly cache: Pick<Identities, 'changed' | 'secretsGone'>;
  readonly changes: Pick<AccountChanges, 'run'>;
}

/** What is open where credentials can be used. */
interface CredentialParts {
  readonly vault: Vault;
  readonly sightings: Sightings;
}

export class CredentialBook {
  /** Set where credentials can be used, before the first request. */
  parts: CredentialParts | null = null;

  constructor(private readonly deps: CredentialBookDeps) {
    deps.cache.secretsGone = (gone) => {
      for (const { id } of gone) this.parts?.vault.drop(id);
    };
  }

  list(account: Account): Promise<StoredCredential[]> {
    return this.deps.store.credentials.list(account.id);
  }

  /** Throws resource_not_found. */
  async find(account: Account, id: string): Promise<StoredCredential> {
    const found = await this.deps.store.credentials.find(account.id, id);
    if (!found) throw noSuchCredential(id);
    return found;
  }

  /** Throws credential_limit_reached, credential_exists, secrets_key_missing, and resource_not_found for a project that is gone. */
  async create(actor: Actor, account: Account, { secret, ...fields }: NewCredential): Promise<StoredCredential> {
    const createdAt = this.deps.clock.now();
    const owner = { accountId: account.id, id: `cred-${timeOrderedId(createdAt)}` };
    const made = { ...owner, ...fields, fingerprint: fingerprintOf(secret.sent), revision: 1, createdAt };
    await this.change(account, async () => {
      await this.sealed(secret.kept, owner, async (sealed) => {
        const outcome = await this.deps.store.credentials.create({ ...made, secret: sealed }, credentialsMax);
        if (outcome === 'limit') throw gatewayError('credential_limit_reached', { limit: credentialsMax });
        if (outcome === 'exists') throw taken(fields);
        if (outcome === 'no_project')
          throw gatewayError('resource_not_found', { what: 'project', id: made.projectId! });
        return outcome === 'created';
      });
    });
    await this.deps.audit.record(actor, 'credential.create', owner.id, auditFields(account, made));
    return this.find(account, owner.id);
  }

  /** What is left out stays as it is. */
  async update(
    actor: Actor,
    account: Account,
    id: string,
    { secret, ...change }: CredentialFields,
  ): Promise<StoredCredential> {
    const { credential } = await this.find(account, id);
    // Whether the secret that goes has served decides whether the next one's failure is news.
    if (secret) await this.parts?.sightings.write();
    await this.change(account, async () => {
      const write = async (sealed?: SealedSecret) => {
        const fields =
          sealed && secret ? { ...change, secret: sealed, fingerprint: fingerprintOf(secret.sent) } : change;
        const outcome = await this.deps.store.credentials.update(account.id, id, fields, this.deps.clock.now());
        if (outcome === 'gone') throw noSuchCredential(id);
        if (outcome === 'exists') throw taken({ ...credential, ...change });
        return outcome === 'changed';
      };
      if (secret) await this.sealed(secret.kept, { accountId: account.id, id }, write);
      else await write();
    });
    this.forget(id);
    const details = { ...change, ...(secret && { fingerprint: fingerprintOf(secret.sent) }) };
    await this.deps.audit.record(actor, 'credential.update', id, auditFields(account, details));
    return this.find(account, id);
  }

  /** Holds for the next request, in every process. A stream that runs goes on to its end. */
  async delete(actor: Actor, account: Account, id: string): Promise<void> {
    const { credential } = await this.find(account, id);
    await this.change(account, () => this.deps.store.credentials.delete(account.id, id));
    this.forget(id);
    const { provider, name } = credential;
    await this.deps.audit.record(actor, 'credential.delete', id, { account_id: account.id, provider, name });
  }

  private async sealed(
    secret: Secret,
    owner: SecretOwner,
    write: (sealed: SealedSecret) => Promise<boolean>,
  ): Promise<void> {
    const { vault } = this.parts!;
    for (let attempt = 1; !(await write(await vault.seal(secret, owner))); attempt++) {
      if (attempt === attemptsMax) throw new Error('The key of stored credentials keeps changing.');
    }
  }

  private forget(id: string): void {
    this.parts?.vault.drop(id);
    this.parts?.sightings.forget(id);
  }

  /** Memory takes what the store then has, and the other processes read the account again. */
  private change(account: Account, make: () => Promise<unknown>): Promise<void> {
    return this.deps.changes.run(account.id, async () => {
      await make();
      const stored = await this.deps.store.credentials.list(account.id);
      account.credentials = stored.length === 0 ? noCredentials : stored.map(({ credential }) => credential);
      await this.deps.cache.changed([`account:${account.id}`]);
    });
  }
}

function fingerprintOf(sent: unknown): string {
  return createHash('sha256').update(canonicalJson(sent)).digest('hex').slice(0, 8);
}

export function noSuchCredential(id: string) {
  return gatewayError('resource_not_found', { what: 'credential', id: id.slice(0, 100) });
}

function taken({ provider, projectId, models }: Pick<OwnCredential, 'provider' | 'projectId' | 'models'>) {
  return gatewayError('credential_exists', { provider, isOfProject: projectId !== null, isOfAll: models === null });
}

/** Never the secret. */
function auditFields(account: Account, fields: Partial<OwnCredential>): Record<string, unknown> {
  const { provider, projectId, name, use, models, agreement, fingerprint } = fields;
  return {
    ...{ account_id: account.id, provider, name, use, models, agreement, fingerprint },
    ...(projectId !== undefined && { project: projectId }),
  };
}
