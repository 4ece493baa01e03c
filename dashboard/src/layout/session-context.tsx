/** The signed-in session for everything inside the shell. */
import { createContext, useContext } from 'react';
import type { SignedIn } from '../api/types.js';

export const SessionContext = createContext<SignedIn | null>(null);

export function useSession(): SignedIn {
  const session = useContext(SessionContext);
  if (!session) throw new Error('useSession is only for pages inside the shell.');
  return session;
}
