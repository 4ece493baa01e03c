/** Identities at identity providers in the memory store. */
import type { IdentityStore, LinkedIdentity } from '../../src/storage/store.js';
import type { SignInRows } from './memory-sign-in.js';

export function memoryIdentities(signIn: SignInRows): IdentityStore {
  const rows = new Map<string, LinkedIdentity>();
  const uses = new Set<string>();
  const nameOf = ({ issuer, subject }: Pick<LinkedIdentity, 'issuer' | 'subject'>) => `${issuer} ${subject}`;
  const ofPerson = async (personId: string) => [...rows.values()].filter((row) => row.personId === personId);
  const useOnce = async (name: string) => !uses.has(name) && uses.add(name).has(name);
  return {
    find: async (issuer, subject) => rows.get(nameOf({ issuer, subject })) ?? null,
    ofPerson,
    async link(identity, reason) {
      const { personId, provider } = identity;
      const person = signIn.users().find(({ id }) => id === personId);
      const isBare = !signIn.hasPassword(personId) && (await ofPerson(personId)).length === 0;
      const isAsked = person?.linkProvider === provider;
      if (rows.get(nameOf(identity))?.personId === personId) return true;
      if (!person || (reason === 'first' && !isBare) || (reason === 'operator' && !isAsked)) return false;
      if (rows.has(nameOf(identity))) return false;
      for (const earlier of await ofPerson(personId)) {
        if (reason !== 'first' && earlier.issuer === identity.issuer) rows.delete(nameOf(earlier));
      }
      rows.set(nameOf(identity), identity);
      if (isAsked) signIn.updateUser(personId, { linkProvider: null });
      return true;
    },
    async noteUse(identity) {
      rows.set(nameOf(identity), identity);
    },
    useOnce,
    async endSessions(ended, name) {
      return (await useOnce(name)) ? signIn.endSessionsOf(ended) : null;
    },
  };
}
