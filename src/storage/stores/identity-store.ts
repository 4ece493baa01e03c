/** Stores people's identities at identity providers, and ends the sessions that these opened. */
import type { Database } from '../database.js';
import type { IdentityStore } from '../store.js';

const columns = `issuer, subject, provider, person_id as "personId", email, operator,
  created_at as "createdAt", last_used_at as "lastUsedAt"`;

export function identityStore(database: Database): IdentityStore {
  return {
    find(issuer, subject) {
      const text = `select ${columns} from lodestone.identities where issuer = $1 and subject = $2`;
      return database.one('identity', text, [issuer, subject]);
    },

    ofPerson(personId) {
      const text = `select ${columns} from lodestone.identities where person_id = $1 order by created_at, issuer, subject`;
      return database.statement('identities-of-person', text, [personId]);
    },

    link: (identity, reason) =>
      database.transaction(async (_db, client) => {
        const { issuer, subject, provider, personId, email, operator, createdAt, lastUsedAt } = identity;
        // The lock on the person orders parallel links: the second one finds the identity of the first.
        const { rows } = await client.query<{ asked: boolean; bare: boolean }>(
          `select coalesce(u.link_provider = $2, false) as asked,
             not exists (select 1 from lodestone.identities i where i.person_id = u.id) and not exists
               (select 1 from lodestone.sign_in_credentials c where c.user_id = u.id and c.password is not null) as bare
           from lodestone.sign_in_users u where u.id = $1 for update`,
          [personId, provider],
        );
        const [person] = rows;
        const owner = async () => {
          const text = 'select person_id from lodestone.identities where issuer = $1 and subject = $2';
          return (await client.query<{ person_id: string }>(text, [issuer, subject])).rows[0]?.person_id;
        };
        // Another sign-in of the same person was faster.
        if ((await owner()) === personId) return true;
        if (!person || (reason === 'first' && !person.bare) || (reason === 'operator' && !person.asked)) return false;
        if (reason !== 'first') {
          await client.query(
            'delete from lodestone.identities where person_id = $1 and issuer = $2 and subject <> $3',
            [personId, issuer, subject],
          );
        }
        await client.query(
          `insert into lodestone.identities (issuer, subject, provider, person_id, email, operator, created_at, last_used_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
          [issuer, subject, provider, personId, email, operator, new Date(createdAt), new Date(lastUsedAt)],
        );
        if ((await owner()) !== personId) return false;
        if (person.asked)
          await client.query('update lodestone.sign_in_users set link_provider = null where id = $1', [personId]);
        return true;
      }),

    async noteUse({ issuer, subject, provider, email, operator, lastUsedAt }) {
      await database.statement(
        'use-identity',
        `update lodestone.identities set provider = $3, email = $4, operator = $5, last_used_at = $6
         where issuer = $1 and subject = $2`,
        [issuer, subject, provider, email, operator, new Date(lastUsedAt)],
      );
    },

    async useOnce(name, expiresAt, nowMs) {
      await database.statement('forget-uses', 'delete from lodestone.sign_in_uses where expires_at <= $1', [
        new Date(nowMs),
      ]);
      return database.hasRow('use-once', `${insertUse} returning name`, [name, new Date(expiresAt)]);
    },

    endSessions: ({ issuer, subject, sid }, name, expiresAt) =>
      database.transaction(async (_db, client) => {
        const used = await client.query(insertUse, [name, new Date(expiresAt)]);
        if (used.rowCount === 0) return null;
        const gone = await client.query(
          `delete from lodestone.sign_in_sessions where issuer = $1 and ($2::text is null or subject = $2)
           and ($3::text is null or sid = $3)`,
          [issuer, subject, sid],
        );
        return gone.rowCount ?? 0;
      }),
  };
}

const insertUse = 'insert into lodestone.sign_in_uses (name, expires_at) values ($1, $2) on conflict do nothing';
