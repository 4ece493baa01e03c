/** The part of the store for people's identities at identity providers, and for the sessions that these open. */

/** Who a person is at an identity provider. */
export interface LinkedIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** The id of the provider in the configuration. */
  readonly provider: string;
  readonly personId: string;
  /** What the provider said last. The person may have another one here. */
  readonly email: string;
  /** A group of the last sign-in gives operator rights. */
  readonly operator: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number;
}

/**
 * Why an identity may be linked: the person has no way to sign in yet, an operator has asked for it, or the person has, while signed in.
 * Each of the last two takes the place of an earlier identity at the same issuer.
 */
export type LinkReason = 'first' | 'operator' | 'person';

/** The sessions that an identity provider ends. */
export interface EndedSessions {
  readonly issuer: string;
  /** Not both null. */
  readonly subject: string | null;
  readonly sid: string | null;
}

export interface IdentityStore {
  find(issuer: string, subject: string): Promise<LinkedIdentity | null>;
  ofPerson(personId: string): Promise<LinkedIdentity[]>;
  /** False where the identity is another person's, or the reason does not hold (any more). */
  link(identity: LinkedIdentity, reason: LinkReason): Promise<boolean>;
  noteUse(identity: LinkedIdentity): Promise<void>;
  /** True once for each name, also for several calls at the same time. */
  useOnce(name: string, expiresAt: number, nowMs: number): Promise<boolean>;
  /** Ends the sessions, once for each name: null where it was used before, else how many they were. */
  endSessions(ended: EndedSessions, name: string, expiresAt: number): Promise<number | null>;
}
