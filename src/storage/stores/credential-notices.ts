/** Takes the notices about credentials of customers that a provider refuses. `credential-store.ts` makes them. */
import type { CredentialNotice } from '../../domain/notice.js';

/** Tells which table a notice is in. */
export const credentialPrefix = 'ntf-';

/** Owners and admins are told by mail, and without any the address of the account. */
export const takeCredentialNotices = `
update lodestone.credential_notices n set attempts = attempts + 1, next_attempt_at = $2
from lodestone.accounts a
where a.id = n.account_id and n.id in (
  select id from lodestone.credential_notices where next_attempt_at <= $1 order by next_attempt_at limit $3
  for update skip locked)
returning n.id, n.account_id, a.email, n.project_id, n.credential_id, n.provider, n.name, n.reason,
  (extract(epoch from n.created_at) * 1000)::bigint as created_ms, n.attempts,
  n.delivered_at is not null as is_sent, n.mailed_at is not null as is_mailed,
  coalesce((select array_agg(distinct u.email order by u.email)
    from lodestone.memberships m join lodestone.sign_in_users u on u.id = m.person_id
    where m.account_id = a.id and m.role in ('owner', 'admin') and u.status = 'active'), array[a.email]) as mail_to`;

export interface CredentialNoticeRow {
  id: string;
  account_id: string;
  email: string;
  project_id: string | null;
  credential_id: string;
  provider: string;
  name: string;
  reason: string | null;
  created_ms: string;
  attempts: number;
  is_sent: boolean;
  is_mailed: boolean;
  mail_to: string[];
}

export function credentialNoticeOf(row: CredentialNoticeRow): CredentialNotice {
  const { account_id, project_id, credential_id, created_ms, is_sent, is_mailed, mail_to, ...rest } = row;
  return {
    ...rest,
    ...{ accountId: account_id, projectId: project_id, credentialId: credential_id, createdAt: Number(created_ms) },
    ...{ isSent: is_sent, isMailed: is_mailed, mailTo: mail_to },
  };
}
