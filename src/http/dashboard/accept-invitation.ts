/** `invitations/accept` joins the account of an invitation, and makes the person where there is none of that email yet. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import type { Session } from '../../accounts/sign-in/session.js';
import { gatewayError } from '../../errors/gateway-error.js';
import type { Invitation, Person } from '../../storage/store.js';
import { bodyFields, newPassword } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { withMemberFaults } from '../people/member-fields.js';
import { callerPeer, limitGuesses, secretBuckets, signInBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { readSession } from './require-session.js';
import { sessionJson } from './session.js';
import { newSession } from './sign-in.js';

const acceptance = z.strictObject({
  token: z.string('must be text').max(1000, 'must be at most 1000 characters'),
  password: newPassword.nullish(),
});
const lookup = z.strictObject({ token: acceptance.shape.token });

export function registerAcceptInvitation(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { invitations, store } = deps;
  const { signIns, limiter, twoFactor } = dashboard;
  /** A link that is not whole counts as a guess. */
  const openLink = async (peer: string, token: string): Promise<Invitation> => {
    let refusal: unknown;
    const open = () =>
      invitations.open(token).catch((error: unknown) => {
        refusal = error;
        return null;
      });
    const invitation = await limitGuesses(limiter, secretBuckets(peer), open);
    if (!invitation) throw refusal;
    return invitation;
  };

  /** What the page shows before somebody accepts. */
  app.post('/invitations/open', async (request, reply) => {
    const { token } = withMemberFaults(request, () => bodyFields(request, lookup));
    const { email, role, accountId, expiresAt } = await openLink(callerPeer(request), token);
    const session = await readSession(request, reply, dashboard);
    const [account, person] = [await deps.directory.account(accountId), await store.people.findByEmail(email)];
    return {
      ...{ object: 'invitation', email, role, account_name: account?.name ?? account?.email ?? null },
      expires_at: new Date(expiresAt).toISOString(),
      signed_in_as: session?.person.email ?? null,
      has_password: person?.hasPassword ?? false,
      sign_in_first: person !== null && (await isSomebody(person)),
    };
  });

  app.post('/invitations/accept', async (request, reply) => {
    const { token, password } = withMemberFaults(request, () => bodyFields(request, acceptance));
    const peer = callerPeer(request);
    const invitation = await openLink(peer, token);
    const { email, accountId } = invitation;
    const session = await readSession(request, reply, dashboard);
    if (session) {
      const signedIn = session.person.email;
      if (signedIn !== email) throw gatewayError('invitation_for_another', { invited: email, signedIn });
      await invitations.accept(invitation, request.origin.address);
      return sessionJson(deps, dashboard, await joined(request.headers.cookie ?? '', accountId));
    }
    checkPasswordsAllowed(dashboard);
    const before = await store.people.findByEmail(email);
    if (before?.status === 'suspended') throw gatewayError('person_suspended');
    if (before && (await isSomebody(before))) throw gatewayError('invitation_sign_in_first', { email });
    if (!password) {
      const reason = 'is missing: send a password, or sign in first';
      throw gatewayError('member_field_invalid', { param: 'password', reason });
    }
    if (before?.hasPassword) {
      const buckets = signInBuckets({ peer, account: email, device: null });
      if (!(await limitGuesses(limiter, buckets, () => signIns.verifySignIn(email, password))))
        throw gatewayError('sign_in_failed');
      // Who has two-factor sign-in signs in with a code first.
      if (await twoFactor.isOn(before.id)) throw gatewayError('two_factor_required');
    } else await checkPassword(password, email);
    const keepPassword = before?.hasPassword ? null : await signIns.hashPassword(password);
    const person = await invitations.accept(invitation, request.origin.address);
    if (keepPassword) await keepPassword(person);
    const cookies = await signIns.open(person.id);
    reply.header('set-cookie', cookies);
    const opened = await newSession(dashboard, cookies, accountId);
    return reply.code(before ? 200 : 201).send(await sessionJson(deps, dashboard, opened));
  });

  /**
   * Somebody without a password who has rights already, or another way to sign in. Whoever invites may hold the link too, so it must not give
   * them a password of such a person.
   */
  async function isSomebody({ id, hasPassword, operator }: Person): Promise<boolean> {
    if (hasPassword) return false;
    if (operator || (await store.people.standing(id)).memberships.length > 0) return true;
    return (await store.identities.ofPerson(id)).length > 0;
  }

  /** The same session, which acts in the new account from now on. */
  async function joined(cookie: string, accountId: string): Promise<Session> {
    const { session } = await signIns.session(cookie, { wanted: accountId });
    if (!session) throw gatewayError('session_required');
    return session;
  }
}

/** A weak password is a 422 here, as other fields are. */
async function checkPassword(password: string, email: string): Promise<void> {
  try {
    await checkNewPassword('password', password, { email });
  } catch (error) {
    const { values } = error as { values?: { param: string; reason: string } };
    throw values ? gatewayError('member_field_invalid', values) : error;
  }
}
