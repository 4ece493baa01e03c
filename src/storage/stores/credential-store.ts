/** Stores the credentials of customers at providers, sealed, with what was seen of each. */
import type { PoolClient } from 'pg';
import { type CredentialState, type OwnCredential, overlap } from '../../domain/credential.js';
import type { CredentialStore, StoredCredential } from '../credential-types.js';
import type { Database } from '../database.js';
import { prefixes } from './due-notices.js';
import { withoutNul } from './tables.js';

/** A row of `credentials` as PostgreSQL's `to_json` shows it. */
export interface CredentialRow {
  readonly id: string;
  readonly account_id: string;
  readonly project_id: string | null;
  readonly provider: string;
  readonly name: string;
  readonly used: OwnCredential['use'];
  readonly models: string | null;
  readonly agreement: string | null;
  readonly fingerprint: string;
  readonly revision: number;
  readonly key_id: string;
  readonly wrapped: string;
  readonly sealed: string;
  readonly created_at: string;
}

interface StateRow extends CredentialRow {
  readonly status: CredentialState['status'];
  readonly reason: string | null;
  readonly status_since: string;
  readonly last_used_at: string | null;
}

export function credentialOfRow(row: CredentialRow): OwnCredential {
  return {
    ...{ id: row.id, accountId: row.account_id, projectId: row.project_id, provider: row.provider, name: row.name },
    use: row.used,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    agreement: row.agreement === null ? null : (JSON.parse(row.agreement) as OwnCredential['agreement']),
    ...{ fingerprint: row.fingerprint, revision: row.revision },
    secret: { keyId: row.key_id, wrapped: row.wrapped, sealed: row.sealed },
    createdAt: Date.parse(row.created_at),
  };
}

function storedOf(row: StateRow): StoredCredential {
  const { status, reason, status_since, last_used_at } = row;
  const lastUsedAt = last_used_at === null ? null : Date.parse(last_used_at);
  return {
    credential: credentialOfRow(row),
    state: { status, reason, since: Date.parse(status_since), lastUsedAt },
  };
}

const select = 'select to_json(c) as row from lodestone.credentials c where account_id = $1';

/**
 * One that fails, and has served since its last notice, makes a notice, which is for the operator's webhook and for mail. A secret that was
 * replaced has not served: there `noticed` tells, which stands since the replacement (see `update`).
 */
const noteSightings = `
with seen as (
  select * from unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[])
    as s(id, revision, status, reason, at, used_at)
), before as (
  select c.id, c.status from lodestone.credentials c join seen s using (id) order by c.id for no key update of c
), changed as (
  update lodestone.credentials c set
    status = case when isNewer then s.status else c.status end,
    reason = case when isNewer then s.reason else c.reason end,
    status_since = case when isNewer and s.status <> c.status then s.at else c.status_since end,
    status_at = case when isNewer then s.at else c.status_at end,
    last_used_at = greatest(c.last_used_at, s.used_at)
  from seen s join before b using (id)
  cross join lateral (select exists (select 1 from lodestone.credentials k where k.id = s.id and s.status is not null
    and k.revision = s.revision and k.status_at <= s.at) as isNewer) n
  where c.id = s.id
  returning c.*, b.status as was
)
insert into lodestone.credential_notices (id, account_id, project_id, credential_id, provider, name, reason, created_at, next_attempt_at)
select '${prefixes.credential_notices}' || replace(gen_random_uuid()::text, '-', ''), account_id, project_id, id, provider, name, reason, status_since, status_since
from changed where status = 'failing' and (was = 'ok' or (was = 'unchecked' and not noticed))`;

export function credentialStore(database: Database): CredentialStore {
  const all = async (client: PoolClient, accountId: string): Promise<OwnCredential[]> => {
    await client.query('select id from lodestone.accounts where id = $1 for no key update', [accountId]);
    const { rows } = await client.query<{ row: CredentialRow }>(select, [accountId]);
    return rows.map(({ row }) => credentialOfRow(row));
  };
  return {
    create: (credential, limit) =>
      database.transaction(async (_db, client) => {
        const others = await all(client, credential.accountId);
        if (!(await hasProject(client, credential))) return 'no_project';
        if (others.length >= limit) return 'limit';
        if (others.some((other) => collides(credential, other))) return 'exists';
        if (!(await isCurrent(client, credential.secret.keyId))) return 'key_changed';
        const { secret, createdAt } = credential;
        const at = new Date(createdAt);
        await client.query(
          `insert into lodestone.credentials (id, account_id, project_id, provider, name, used, models, agreement, fingerprint, revision,
             key_id, wrapped, sealed, created_at, status_since, status_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $14)`,
          [
            ...[credential.id, credential.accountId, credential.projectId, credential.provider],
            ...[withoutNul(credential.name), credential.use, textOf(credential.models), textOf(credential.agreement)],
            ...[credential.fingerprint, credential.revision, secret.keyId, secret.wrapped, secret.sealed, at],
          ],
        );
        return 'created';
      }),

    async list(accountId) {
      const rows = await database.statement<{ row: StateRow }>('credentials', `${select} order by id`, [accountId]);
      return rows.map(({ row }) => storedOf(row));
    },

    async find(accountId, id) {
      const row = await database.value<StateRow>('credential', `${select} and id = $2`, [accountId, id]);
      return row && storedOf(row);
    },

    update: (accountId, id, change, nowMs) =>
      database.transaction(async (_db, client) => {
        const others = await all(client, accountId);
        const held = others.find((each) => each.id === id);
        if (!held) return 'gone';
        const next = { ...held, ...change };
        if (others.some((other) => other.id !== id && collides(next, other))) return 'exists';
        await client.query(
          'update lodestone.credentials set name = $2, used = $3, models = $4, agreement = $5 where id = $1',
          [id, withoutNul(next.name), next.use, textOf(next.models), textOf(next.agreement)],
        );
        if (!change.secret) return 'changed';
        const { keyId, wrapped, sealed } = change.secret;
        if (!(await isCurrent(client, keyId))) {
          await client.query('rollback');
          await client.query('begin');
          return 'key_changed';
        }
        await client.query(
          `update lodestone.credentials set key_id = $2, wrapped = $3, sealed = $4, fingerprint = $5, revision = revision + 1,
             noticed = status = 'failing' or (status = 'unchecked' and noticed), status = 'unchecked', reason = null, status_since = $6, status_at = $6 where id = $1`,
          [id, keyId, wrapped, sealed, next.fingerprint, new Date(nowMs)],
        );
        return 'changed';
      }),

    delete(accountId, id) {
      const text = 'delete from lodestone.credentials where account_id = $1 and id = $2 returning id';
      return database.hasRow('credential-gone', text, [accountId, id]);
    },

    async note(sightings) {
      const inOrder = [...sightings].sort((a, b) => (a.id < b.id ? -1 : 1));
      const dates = (values: (number | null)[]) => values.map((ms) => (ms === null ? null : new Date(ms)));
      await database.statement('credential-sightings', noteSightings, [
        ...[inOrder.map(({ id }) => id), inOrder.map(({ revision }) => revision)],
        ...[inOrder.map(({ status }) => status), inOrder.map(({ reason }) => reason && withoutNul(reason))],
        ...[dates(inOrder.map(({ atMs }) => atMs)), dates(inOrder.map(({ lastUsedAt }) => lastUsedAt))],
      ]);
    },

    async keysInUse() {
      const text = 'select key_id, count(*)::integer as n from lodestone.credentials group by 1';
      const rows = await database.statement<{ key_id: string; n: number }>('secret-keys', text, []);
      return new Map(rows.map(({ key_id, n }) => [key_id, n]));
    },

    ofKeys: (keyIds) =>
      database.statement(
        'credentials-of-keys',
        'select id, revision from lodestone.credentials where key_id = any($1)',
        [keyIds],
      ),

    currentKey: () => database.value('secrets-key', 'select key_id from lodestone.secrets_state', []),

    async setCurrentKey(id) {
      await database.statement('set-secrets-key', 'update lodestone.secrets_state set key_id = $1', [id]);
    },

    wrappedOtherwise(keyId, limit, after) {
      const text = `select id, account_id as "accountId", key_id as "keyId", wrapped, sealed from lodestone.credentials
        where key_id <> $1 and id > $3 order by id limit $2`;
      return database.statement('wrapped-otherwise', text, [keyId, limit, after]);
    },

    rewrap(from, to) {
      const text = `update lodestone.credentials set key_id = $4, wrapped = $5 where id = $1 and wrapped = $2 and sealed = $3 returning id`;
      const values = [from.id, from.wrapped, from.sealed, to.keyId, to.wrapped];
      return database.hasRow('rewrap', text, values);
    },
  };
}

/** A rotation that begins waits until the secret that was sealed with the current key is in the store. */
/** Under the account's lock, which the deletion of a project takes too. */
async function hasProject(client: PoolClient, { accountId, projectId }: OwnCredential): Promise<boolean> {
  if (projectId === null) return true;
  const text = 'select 1 from lodestone.projects where account_id = $1 and id = $2';
  return (await client.query(text, [accountId, projectId])).rows.length > 0;
}

async function isCurrent(client: PoolClient, keyId: string): Promise<boolean> {
  const { rows } = await client.query('select key_id from lodestone.secrets_state where key_id = $1 for share', [
    keyId,
  ]);
  return rows.length > 0;
}

/** Two of a provider and scope may stand side by side where their models differ, or where one is for all that the other does not name. */
function collides(one: OwnCredential, other: OwnCredential): boolean {
  if (one.provider !== other.provider || one.projectId !== other.projectId) return false;
  if (one.models === null || other.models === null) return one.models === other.models;
  return overlap(one.models, other.models);
}

function textOf(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
