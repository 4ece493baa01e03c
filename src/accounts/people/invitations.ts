/** Invites people to accounts with a link that works once, for a week: by mail, or passed on by whoever invites. */
import { randomBytes } from 'node:crypto';
import { timeOrderedId } from '../../base/ids.js';
import type { Logger } from '../../base/logger.js';
import type { Clock } from '../../base/time.js';
import type { Account } from '../../domain/account.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Invitation, PageQuery, PeopleStore, Person } from '../../storage/store.js';
import { type AuditLog, actorDetailsOf } from '../audit.js';
import type { AccountDirectory } from '../directory.js';
import { hashToken } from '../keys/token.js';
import { checkRight, memberRight } from '../roles.js';
import { FewAtATime } from '../sign-in/few-at-a-time.js';
import type { Mail, Mailer } from '../sign-in/mailer.js';
import { type Changer, type NewMember, newPersonId } from './members.js';

const validMs = 7 * 86_400_000;

/** Few relays accept many connections of one client. */
const mailsMax = 2;
const waitingMax = 50;

interface InvitationsDeps {
  people: PeopleStore;
  directory: Pick<AccountDirectory, 'account'>;
  audit: Pick<AuditLog, 'record'>;
  clock: Pick<Clock, 'now'>;
  logger: Logger;
  /** null where no mail is configured: then whoever invites passes the link on. */
  mailer: Mailer | null;
  /** The dashboard's address, from the configuration and never from a request. */
  dashboardUrl: () => string;
}

interface MadeInvitation {
  readonly invitation: Invitation;
  /** The secret of the link; null where it was mailed. */
  readonly token: string | null;
  readonly url: string | null;
}

export class Invitations {
  private readonly sending = new FewAtATime(mailsMax, waitingMax);

  constructor(private readonly deps: InvitationsDeps) {}

  /** Throws role_required and member_exists. */
  async create({ actor, standing }: Changer, account: Account, invited: NewMember): Promise<MadeInvitation> {
    const { people, audit, clock, dashboardUrl } = this.deps;
    const { email, role, projects } = invited;
    if (standing) checkRight(standing, memberRight(role));
    const person = await people.findByEmail(email);
    if (person && (await people.member(account.id, person.id))) throw gatewayError('member_exists', { email });
    const createdAt = clock.now();
    const token = randomBytes(32).toString('base64url');
    const invitation: Invitation = {
      ...{ id: `inv-${timeOrderedId(createdAt)}`, accountId: account.id, email, role, projects },
      ...{ tokenHash: hashOf(token), invitedBy: actorDetailsOf(actor).actor },
      ...{ createdAt, expiresAt: createdAt + validMs, acceptedAt: null },
    };
    await people.invite(invitation);
    const details = { account_id: account.id, email, role, projects };
    await audit.record(actor, 'invitation.create', invitation.id, details);
    // The token is in the fragment, which browsers do not send and servers do not log. The page sends it to the API.
    const url = `${dashboardUrl()}/accept-invitation#${token}`;
    const isMailed = await this.mail(invitationMail(email, account, url));
    return isMailed ? { invitation, token: null, url: null } : { invitation, token, url };
  }

  list(accountId: string, page: PageQuery): Promise<Invitation[]> {
    return this.deps.people.invitations(accountId, page);
  }

  /** Throws resource_not_found, also for an invitation that was accepted. */
  async revoke({ actor }: Changer, account: Account, id: string): Promise<void> {
    if (!(await this.deps.people.revokeInvitation(account.id, id)))
      throw gatewayError('resource_not_found', { what: 'invitation', id: id.slice(0, 100) });
    await this.deps.audit.record(actor, 'invitation.revoke', id, { account_id: account.id });
  }

  /** The open invitation of a link. Throws invitation_not_found, invitation_used, invitation_expired and account_suspended. */
  async open(token: string): Promise<Invitation> {
    const { people, directory, clock } = this.deps;
    const invitation = await people.findInvitation(hashOf(token));
    if (!invitation) throw gatewayError('invitation_not_found');
    if (invitation.acceptedAt !== null) throw gatewayError('invitation_used');
    const { expiresAt, accountId } = invitation;
    if (expiresAt <= clock.now())
      throw gatewayError('invitation_expired', { date: new Date(expiresAt).toISOString().slice(0, 10) });
    if ((await directory.account(accountId))?.status === 'suspended') throw gatewayError('account_suspended');
    return invitation;
  }

  /** Makes the invited person, who is at this address, a member, once. Throws invitation_used. */
  async accept({ tokenHash, accountId, id, role }: Invitation, address: string): Promise<Person> {
    const { people, audit, clock } = this.deps;
    const now = clock.now();
    const person = await people.acceptInvitation(tokenHash, newPersonId(now), now);
    if (!person) throw gatewayError('invitation_used');
    const shownId = shownPersonId(person.id);
    const details = { account_id: accountId, email: person.email, role, invitation: id };
    const by = `person:${shownId}` as const;
    await audit.record({ actor: by, by, address }, 'invitation.accept', shownId, details);
    return person;
  }

  /** False where no mail is configured or the server did not take it. */
  private async mail(mail: Mail): Promise<boolean> {
    const { mailer, logger } = this.deps;
    if (!mailer) return false;
    try {
      await this.sending.run(() => mailer.send(mail));
      return true;
    } catch (error) {
      // Only the codes: the text of a mail server may repeat the mail, and with it the link.
      const { name, code, responseCode, command } = error as Record<string, unknown>;
      logger.warn({ name, code, responseCode, command }, 'an invitation could not be mailed');
      return false;
    }
  }
}

function hashOf(token: string): string {
  return hashToken(token).toString('hex');
}

function invitationMail(to: string, { name, email }: Account, url: string): Mail {
  const text = `You are invited to the account ${name ?? email} on Lodestone.

Open this link within 7 days to accept. It works once:

${url}

If you do not know who invited you, do nothing.
`;
  return { to, subject: `You are invited to ${name ?? email} on Lodestone`, text };
}
