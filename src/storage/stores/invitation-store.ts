/** Stores invitations to accounts: each works once, also for several calls at the same time. */
import type { Database } from '../database.js';
import type { Invitation, PeopleStore, Person } from '../store.js';

const columns = `id, account_id as "accountId", email, role, projects, token_hash as "tokenHash", invited_by as "invitedBy",
  created_at as "createdAt", expires_at as "expiresAt", accepted_at as "acceptedAt"`;

type InvitationStore = Pick<
  PeopleStore,
  'invite' | 'invitations' | 'findInvitation' | 'openInvitations' | 'revokeInvitation' | 'acceptInvitation'
>;

export function invitationStore(
  database: Database,
  findByEmail: (email: string) => Promise<Person | null>,
): InvitationStore {
  return {
    invite: (invitation) =>
      database.transaction(async (_db, client) => {
        const { id, accountId, email, role, projects, tokenHash, invitedBy, createdAt, expiresAt } = invitation;
        // The lock on the account's row orders parallel invitations: each ends the ones before it.
        await client.query('select 1 from lodestone.accounts where id = $1 for update', [accountId]);
        const earlier =
          'delete from lodestone.invitations where account_id = $1 and email = $2 and accepted_at is null';
        await client.query(earlier, [accountId, email]);
        await client.query(
          `insert into lodestone.invitations
           (id, account_id, email, role, projects, token_hash, invited_by, created_at, expires_at)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
          [id, accountId, email, role, projects, tokenHash, invitedBy, new Date(createdAt), new Date(expiresAt)],
        );
      }),

    invitations: (accountId, { limit, after }) =>
      database.statement(
        'invitations',
        `select ${columns} from lodestone.invitations where account_id = $1 and id > $2 order by id limit $3`,
        [accountId, after ?? '', limit],
      ),

    findInvitation: (tokenHash) =>
      database.one('invitation', `select ${columns} from lodestone.invitations where token_hash = $1`, [tokenHash]),

    openInvitations: (email, nowMs) =>
      database.statement(
        'open-invitations',
        `select ${columns} from lodestone.invitations
         where email = $1 and accepted_at is null and expires_at > $2 order by id limit 1000`,
        [email, new Date(nowMs)],
      ),

    revokeInvitation(accountId, id) {
      const text =
        'delete from lodestone.invitations where account_id = $1 and id = $2 and accepted_at is null returning id';
      return database.hasRow('revoke-invitation', text, [accountId, id]);
    },

    async acceptInvitation(tokenHash, newPersonId, nowMs) {
      const now = new Date(nowMs);
      const email = await database.transaction(async (_db, client) => {
        const taken = await client.query<Invitation>(
          `update lodestone.invitations set accepted_at = $2
           where token_hash = $1 and accepted_at is null and expires_at > $2 returning ${columns}`,
          [tokenHash, now],
        );
        const [invitation] = taken.rows;
        if (!invitation) return null;
        await client.query(
          `insert into lodestone.sign_in_users (id, email, name, email_verified, created_at, updated_at)
           values ($1, $2, '', false, $3, $3) on conflict (email) do nothing`,
          [newPersonId, invitation.email, now],
        );
        // Who is a member already keeps the role.
        await client.query(
          `insert into lodestone.memberships (account_id, person_id, source, role, projects, created_at)
           select $1, id, 'manual', $3, $4, $5 from lodestone.sign_in_users where email = $2 on conflict do nothing`,
          [invitation.accountId, invitation.email, invitation.role, invitation.projects, now],
        );
        return invitation.email;
      });
      return email === null ? null : findByEmail(email);
    },
  };
}
