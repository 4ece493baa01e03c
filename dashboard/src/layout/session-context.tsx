/** The signed-in session for everything inside the shell. */
import { createContext, useContext } from 'react';
import type { SessionAccount, SignedIn } from '../api/types.js';

/** With an account, also where the person has none: pages of accounts are not open to them then. */
interface ShellSession extends SignedIn {
  account: SessionAccount;
  hasAccount: boolean;
}

export const SessionContext = createContext<ShellSession | null>(null);

export function shellSession(session: SignedIn): ShellSession {
  const { account } = session;
  return { ...session, account: account ?? noAccount(session), hasAccount: account !== null };
}

function noAccount({ person, opened_by }: SignedIn): SessionAccount {
  return {
    ...{
      id: '',
      email: opened_by === 'admin_token' ? 'Admin token' : person.email,
      name: person.name,
      status: 'active',
    },
    ...{ balance_usd: null, low_balance_usd: null, balance_level: 'fine', created_at: '' },
    limits: { requests_per_minute: 0, tokens_per_minute: 0 },
  } as SessionAccount;
}

export function useSession(): ShellSession {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession is only for pages inside the shell.');
  return session;
}
