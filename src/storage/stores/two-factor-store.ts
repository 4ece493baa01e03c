/** Stores the second factor of accounts. Each code works once, also for several calls at the same time. */
import type { Database } from '../database.js';
import type { TwoFactorStore } from '../store.js';

export function twoFactorStore(database: Database): TwoFactorStore {
  return {
    offer: (accountId, secret) =>
      database.hasRow(
        'two-factor-offer',
        `insert into lodestone.two_factor as t (account_id, secret) values ($1, $2)
         on conflict (account_id) do update set secret = excluded.secret where t.confirmed_at is null returning account_id`,
        [accountId, secret],
      ),

    find(accountId) {
      const text =
        'select secret, confirmed_at is not null as confirmed from lodestone.two_factor where account_id = $1';
      return database.one('two-factor', text, [accountId]);
    },

    confirm: (accountId, secret, step, codeHashes) =>
      database.transaction(async (_db, client) => {
        const confirmed = await client.query(
          `update lodestone.two_factor set confirmed_at = now(), last_step = $3
           where account_id = $1 and secret = $2 and confirmed_at is null`,
          [accountId, secret, step],
        );
        if (confirmed.rowCount === 0) return false;
        const codes =
          'insert into lodestone.two_factor_recovery_codes (account_id, code_hash) select $1, unnest($2::text[])';
        await client.query(codes, [accountId, codeHashes]);
        await client.query('update lodestone.sign_in_users set two_factor = true where id = $1', [accountId]);
        return true;
      }),

    useStep: (accountId, step) =>
      database.hasRow(
        'two-factor-step',
        `update lodestone.two_factor set last_step = $2
         where account_id = $1 and last_step < $2 and confirmed_at is not null returning account_id`,
        [accountId, step],
      ),

    useRecoveryCode(accountId, codeHash) {
      const text =
        'delete from lodestone.two_factor_recovery_codes where account_id = $1 and code_hash = $2 returning code_hash';
      return database.hasRow('recovery-code', text, [accountId, codeHash]);
    },

    async recoveryCodesLeft(accountId) {
      const text = 'select count(*) from lodestone.two_factor_recovery_codes where account_id = $1';
      return (await database.value<number>('recovery-codes', text, [accountId]))!;
    },

    remove: (accountId) =>
      database.transaction(async (_db, client) => {
        const text = 'delete from lodestone.two_factor where account_id = $1 returning confirmed_at';
        const { rows } = await client.query<{ confirmed_at: number | null }>(text, [accountId]);
        await client.query('update lodestone.sign_in_users set two_factor = false where id = $1', [accountId]);
        return rows.some((row) => row.confirmed_at !== null);
      }),
  };
}
