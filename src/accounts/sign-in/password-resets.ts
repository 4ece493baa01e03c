/**
 * Resets forgotten passwords with a link that works once: by mail, or from an operator who passes it on. Nobody learns from it
 * whether an account exists: the lookup and the mail come after the answer.
 */
import { randomBytes } from 'node:crypto';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { PasswordReset, Store } from '../../storage/store.js';
import { type ActorDetails, type AuditLog, personAt } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { hashToken } from '../keys/token.js';
import { FewAtATime } from './few-at-a-time.js';
import type { Mail, Mailer } from './mailer.js';
import { checkNewPassword } from './password-rules.js';
import type { SignInOwner } from './session.js';
import type { SignIns } from './sign-ins.js';

const minuteMs = 60_000;
const mailValidMs = 30 * minuteMs;
/** An operator passes the link on by hand, which takes longer. */
const operatorValidMs = 24 * 60 * minuteMs;

/** Few relays accept many connections of one client. As many mails may wait as are sent in a minute or two. */
const mailsMax = 4;
const waitingMax = 100;
/** How long a stop waits for mails on their way. */
const stopMs = 5_000;

interface PasswordResetsDeps {
  store: Pick<Store, 'people' | 'signIn'>;
  directory: Pick<AccountDirectory, 'account'>;
  signIns: Pick<SignIns, 'hashPassword'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  /** null where no mail is configured: then only operators make links. */
  mailer: Mailer | null;
  /** The dashboard's address, from the configuration and never from a request. */
  dashboardUrl: () => string;
}

type Suspension = 'person_suspended' | 'account_suspended';

export interface ResetLink {
  url: string;
  expiresAt: number;
}

export class PasswordResets {
  private readonly sending = new FewAtATime(mailsMax, waitingMax);
  private readonly pending = new Set<Promise<void>>();

  constructor(private readonly deps: PasswordResetsDeps) {}

  get sendsMail(): boolean {
    return this.deps.mailer !== null;
  }

  /** Returns at once and in the same time for every address. `from` is where the request came from. */
  request(email: string, from: string): void {
    this.inBackground(() => this.mailLink(email, from));
  }

  /** A link for an operator to pass on, also to somebody who has no password yet. */
  makeLink({ id }: Pick<SignInOwner, 'id'>): Promise<ResetLink> {
    return this.newLink(id, 'operator', operatorValidMs);
  }

  /**
   * Sets the password and ends all sessions and links of the person; null where the link is unknown, used or too old. A
   * password that is refused leaves the link as it is.
   */
  async use(token: string, password: string, from: string): Promise<SignInOwner | null> {
    const { store, clock, signIns, audit } = this.deps;
    const tokenHash = hashOf(token);
    const found = await store.signIn.findReset(tokenHash, clock.now());
    const owner = found && (await this.ownerOf(found.accountId));
    if (!owner) return null;
    if (owner.suspended) throw gatewayError(owner.suspended);
    await checkNewPassword('password', password, owner);
    const keepPassword = await signIns.hashPassword(password);
    const taken = await store.signIn.takeReset(tokenHash, clock.now());
    if (!taken) return null;
    await keepPassword(owner);
    const details = { address: from, link: taken.sentBy };
    await audit.record(personAt(owner.id, from), 'account.password_reset', owner.id, details);
    if (this.sendsMail) this.inBackground(() => this.send(changedMail(owner.email, this.deps.dashboardUrl())));
    return owner;
  }

  async stop(): Promise<void> {
    const late = new Promise((resolve) => setTimeout(resolve, stopMs).unref());
    await Promise.race([Promise.all(this.pending), late]);
  }

  private async mailLink(email: string, from: string): Promise<void> {
    const { store, audit } = this.deps;
    const person = await store.people.findByEmail(email);
    // Somebody without a password is an operator's script, the owner of the console, or signs in elsewhere.
    if (!person?.hasPassword || (await this.ownerOf(person.id))?.suspended) return;
    const { url } = await this.newLink(person.id, 'mail', mailValidMs);
    const who: ActorDetails = { actor: 'anonymous', by: null, address: from };
    await audit.record(who, 'account.password_reset_request', person.id, { address: from });
    await this.send(linkMail(person.email, url));
  }

  /** The person of an id, or the account that nobody has signed in to yet. */
  private async ownerOf(id: string): Promise<(SignInOwner & { suspended: Suspension | null }) | null> {
    const { store, directory } = this.deps;
    const person = await store.people.find(id);
    const account = await directory.account(id);
    const owner = person ?? account;
    if (!owner) return null;
    const { email, name } = owner;
    const isSuspended = person?.status === 'suspended';
    const suspended = isSuspended ? 'person_suspended' : account?.status === 'suspended' ? 'account_suspended' : null;
    return { id: owner.id, email, name, suspended };
  }

  private async newLink(accountId: string, sentBy: PasswordReset['sentBy'], validMs: number): Promise<ResetLink> {
    const { store, clock, dashboardUrl } = this.deps;
    const token = randomBytes(32).toString('base64url');
    const expiresAt = clock.now() + validMs;
    await store.signIn.addReset({ tokenHash: hashOf(token), accountId, sentBy, expiresAt });
    // The token is in the fragment, which browsers do not send and servers do not log. The page sends it to the API.
    return { url: `${dashboardUrl()}/reset-password#${token}`, expiresAt };
  }

  private async send(mail: Mail): Promise<void> {
    await this.deps.mailer?.send(mail);
  }

  /** Begins after the answer of the request that asks for it. */
  private inBackground(work: () => Promise<void>): void {
    const begun = new Promise((resolve) => setImmediate(resolve)).then(() => this.sending.run(work));
    const done: Promise<void> = begun
      .catch((error: unknown) => this.deps.logger.warn(shownFault(error), 'a mail about a password could not be sent'))
      .finally(() => this.pending.delete(done));
    this.pending.add(done);
  }
}

/** Only the codes: the text of a mail server may repeat the mail, and with it the link. */
function shownFault(error: unknown): object {
  const { name, code, responseCode, command } = error as Record<string, unknown>;
  return { name, code, responseCode, command };
}

function hashOf(token: string): string {
  return hashToken(token).toString('hex');
}

function linkMail(to: string, url: string): Mail {
  const text = `Somebody asked for a new password for the account ${to}.

Open this link within 30 minutes to choose one. It works once:

${url}

If it was not you, do nothing. Your password stays as it is.
`;
  return { to, subject: 'Reset your Lodestone password', text };
}

function changedMail(to: string, dashboardUrl: string): Mail {
  const text = `The password of the account ${to} was reset with a link. All of its sessions have ended.

Sign in with the new password: ${dashboardUrl}/sign-in

If it was not you, ask the operator of this gateway for help.
`;
  return { to, subject: 'Your Lodestone password was changed', text };
}
