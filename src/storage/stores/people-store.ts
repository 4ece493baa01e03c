/** Stores people and what they may do in accounts. Changes of one account's members run one after another. */
import type { PoolClient } from 'pg';
import type { Membership } from '../../domain/organisation.js';
import type { Database } from '../database.js';
import { adminUserId } from '../sign-in-types.js';
import type { MemberRecord, MembersQuery, PeopleStore, Person } from '../store.js';
import { invitationStore } from './invitation-store.js';
import { disableHeldKeys } from './key-store.js';
import { importedFromOf } from './project-rows.js';

/** Ids of both beginnings in the order of their time. */
const place = (column: string) => `regexp_replace(${column}, '^(acct|per)-', '')`;
const placeOf = (shownId: string | undefined) => shownId?.replace(/^(acct|per)-/, '') ?? '';

const personColumns = `u.id, u.email, nullif(u.name, '') as name,
  case u.status when 'suspended' then 'suspended' else 'active' end as status, u.operator, u.two_factor as "twoFactor",
  u.link_provider as "linkProvider", u.imported_from as "importedFrom", u.created_at as "createdAt",
  exists (select 1 from lodestone.sign_in_credentials c where c.user_id = u.id and c.password is not null) as "hasPassword"`;

interface PersonRow extends Omit<Person, 'importedFrom'> {
  importedFrom: string | null;
}

const personOf = (row: PersonRow): Person => ({ ...row, importedFrom: importedFromOf(row.importedFrom) });

const membershipColumns = `m.account_id as "accountId", m.person_id as "personId", m.source, m.role, m.projects, m.created_at as "createdAt",
  m.last_seen_at as "lastSeenAt"`;

/** Ends the transaction. */
class NoOwnerLeft extends Error {}

export function peopleStore(database: Database): PeopleStore {
  const one = async (name: string, where: string, values: unknown[]): Promise<Person | null> => {
    const text = `select ${personColumns} from lodestone.sign_in_users u where (${where}) and u.id <> '${adminUserId}'`;
    const row = await database.one<PersonRow>(name, text, values);
    return row && personOf(row);
  };
  const findByEmail = (email: string) => one('person-by-email', 'u.email = $1', [email.toLowerCase()]);

  return {
    ...invitationStore(database, findByEmail),

    find: (id) => one('person', 'u.id in ($1, $2)', [id, id.replace(/^per-/, 'acct-')]),
    findByEmail,

    async emails(ids) {
      const rows = await database.statement<{ id: string; email: string }>(
        'emails-of-people',
        'select id, email from lodestone.sign_in_users where id = any($1)',
        [ids],
      );
      return new Map(rows.map(({ id, email }) => [id, email]));
    },

    async list({ limit, after, email }) {
      const rows = await database.statement<PersonRow>(
        'people',
        `select ${personColumns} from lodestone.sign_in_users u
         where u.id <> '${adminUserId}' and ${place('u.id')} > $1 and ($2::text is null or u.email = $2) order by ${place('u.id')} limit $3`,
        [placeOf(after), email?.toLowerCase() ?? null, limit],
      );
      return rows.map(personOf);
    },

    async ensure({ id, email, name, importedFrom, createdAt }) {
      await database.statement(
        'add-person',
        `insert into lodestone.sign_in_users (id, email, name, imported_from, created_at, updated_at) values ($1, $2, $3, $5, $4, $4)
         on conflict (email) do nothing`,
        [id, email.toLowerCase(), name ?? '', new Date(createdAt), importedFrom && JSON.stringify(importedFrom)],
      );
      return (await findByEmail(email))!;
    },

    async update(id, { status, operator, linkProvider }) {
      await database.statement(
        'change-person',
        `update lodestone.sign_in_users set status = coalesce($2, status), operator = coalesce($3, operator),
         link_provider = case when $4 then $5 else link_provider end, updated_at = now() where id = $1`,
        [id, status ?? null, operator ?? null, linkProvider !== undefined, linkProvider ?? null],
      );
    },

    async standing(personId) {
      const rows = await database.statement<Membership & { lastAccountId: string | null }>(
        'standing',
        `select ${membershipColumns}, u.last_account_id as "lastAccountId" from lodestone.sign_in_users u
         join lodestone.memberships m on m.person_id = u.id where u.id = $1 order by m.account_id, m.source`,
        [personId],
      );
      const memberships = rows.map(({ lastAccountId: _, ...membership }) => membership);
      return { memberships, lastAccountId: rows[0]?.lastAccountId ?? null };
    },

    async noteVisit(personId, accountId, nowMs) {
      await database.statement(
        'note-visit',
        `with seen as (update lodestone.memberships set last_seen_at = $3 where person_id = $1 and account_id = $2)
         update lodestone.sign_in_users set last_account_id = $2 where id = $1 and last_account_id is distinct from $2`,
        [personId, accountId, new Date(nowMs)],
      );
    },

    members: (accountId, query) => members(database, accountId, query),

    async member(accountId, personId) {
      const rows = await database.statement<MemberRow>(
        'member',
        `select ${memberColumns} from lodestone.memberships m
         join lodestone.sign_in_users u on u.id = m.person_id
         where m.account_id = $1 and m.person_id in ($2, $3) order by m.source`,
        [accountId, personId, personId.replace(/^per-/, 'acct-')],
      );
      return recordsOf(rows)[0] ?? null;
    },

    setMembership: ({ accountId, personId, source, role, projects, createdAt }, seen) =>
      keepOwner(database, accountId, async (client) => {
        if (seen && rolesOf(seen) !== rolesOf(await membershipsOf(client, accountId, personId)))
          return 'outdated' as const;
        await client.query(
          `insert into lodestone.memberships (account_id, person_id, source, role, projects, created_at)
           values ($1, $2, $3, $4, $5, $6) on conflict (account_id, person_id, source)
           do update set role = excluded.role, projects = excluded.projects`,
          [accountId, personId, source, role, projects, new Date(createdAt)],
        );
        return 'set' as const;
      }),

    closeAccount: (accountId, email) =>
      database.transaction(async (_db, client) => {
        await client.query('update lodestone.accounts set email = $2, name = null where id = $1', [accountId, email]);
        await client.query('delete from lodestone.invitations where account_id = $1', [accountId]);
        const gone = await client.query<{ person_id: string }>(
          'delete from lodestone.memberships where account_id = $1 returning person_id',
          [accountId],
        );
        const ids = [...new Set(gone.rows.map(({ person_id }) => person_id))];
        await client.query(
          `delete from lodestone.sign_in_users u where u.id = any($1) and not u.operator
           and not exists (select from lodestone.memberships m where m.person_id = u.id)`,
          [ids],
        );
        return ids.length;
      }),

    removeMember: (accountId, personId, source) =>
      keepOwner(database, accountId, async (client) => {
        const gone = await client.query(
          `delete from lodestone.memberships where account_id = $1 and person_id = $2 and ($3::text is null or source = $3)`,
          [accountId, personId, source ?? null],
        );
        if (gone.rowCount === 0) return null;
        const left = await client.query(
          'select account_id = $1 as here from lodestone.memberships where person_id = $2 order by 1 desc limit 1',
          [accountId, personId],
        );
        if (left.rows[0]?.here) return { left: false, disabledKeys: [] };
        if (left.rows.length === 0) {
          await client.query(
            `delete from lodestone.sign_in_sessions s using lodestone.sign_in_users u
             where s.user_id = $1 and u.id = s.user_id and not u.operator`,
            [personId],
          );
        }
        return { left: true, disabledKeys: await disableHeldKeys(client, accountId, personId) };
      }),
  };
}

async function membershipsOf(client: PoolClient, accountId: string, personId: string): Promise<Membership[]> {
  const text = `select ${membershipColumns} from lodestone.memberships m
    where m.account_id = $1 and m.person_id = $2 order by m.source`;
  return (await client.query<Membership>(text, [accountId, personId])).rows;
}

const rolesOf = (memberships: readonly Membership[]): string =>
  JSON.stringify(memberships.map(({ source, role, projects }) => [source, role, projects]));

const memberColumns = `u.email, nullif(u.name, '') as name, u.imported_from as "importedFrom", ${membershipColumns}`;

type MemberRow = Membership & { email: string; name: string | null; importedFrom: string | null };

async function members(
  database: Database,
  accountId: string,
  { limit, after, find }: MembersQuery,
): Promise<MemberRecord[]> {
  const rows = await database.statement<MemberRow>(
    'members',
    `with page as (
       select person_id, ${place('person_id')} as place from lodestone.memberships where account_id = $1
       and ($4::text is null or exists (select from lodestone.sign_in_users f where f.id = person_id
         and (position($4 in f.email) > 0 or position($4 in lower(f.name)) > 0)))
       group by person_id having ${place('person_id')} > $2 order by 2 limit $3
     )
     select ${memberColumns} from page p
     join lodestone.memberships m on m.account_id = $1 and m.person_id = p.person_id
     join lodestone.sign_in_users u on u.id = p.person_id order by p.place, m.source`,
    [accountId, placeOf(after), limit, find?.toLowerCase() ?? null],
  );
  return recordsOf(rows);
}

function recordsOf(rows: readonly MemberRow[]): MemberRecord[] {
  const found = new Map<string, { person: MemberRecord['person']; memberships: Membership[] }>();
  for (const { email, name, importedFrom, ...membership } of rows) {
    const id = membership.personId;
    const person = { id, email, name, importedFrom: importedFromOf(importedFrom) };
    const record = found.get(id) ?? { person, memberships: [] };
    record.memberships.push(membership);
    found.set(id, record);
  }
  return [...found.values()];
}

/** Undoes a change that leaves an account without the owners that it had. An account that an operator made may have none. */
async function keepOwner<T>(
  database: Database,
  accountId: string,
  change: (client: PoolClient) => Promise<T>,
): Promise<T | 'last_owner'> {
  try {
    return await database.transaction(async (_db, client) => {
      // The lock on the account's row orders parallel changes: two owners cannot remove each other.
      await client.query('select 1 from lodestone.accounts where id = $1 for update', [accountId]);
      const had = await hasOwner(client, accountId);
      const result = await change(client);
      if (had && !(await hasOwner(client, accountId))) throw new NoOwnerLeft();
      return result;
    });
  } catch (error) {
    if (error instanceof NoOwnerLeft) return 'last_owner';
    throw error;
  }
}

async function hasOwner(client: PoolClient, accountId: string): Promise<boolean> {
  const text = "select 1 from lodestone.memberships where account_id = $1 and role = 'owner' limit 1";
  return (await client.query(text, [accountId])).rows.length > 0;
}
