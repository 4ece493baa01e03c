/** Sign-up, sign-in, sign-out and the link that claims the demo account. Answers do not reveal whether an account exists. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { cookieName, cookieValue } from '../../accounts/sign-in/cookies.js';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import type { Session } from '../../accounts/sign-in/session.js';
import type { Cookies } from '../../accounts/sign-in/sign-ins.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { AdminGate } from '../admin/admin-gate.js';
import { personIn } from '../admin/audit.js';
import { bodyFields, emailAddress, newPassword, personText } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { callerPeer, limitGuesses, secretBuckets, signInBuckets, signUpBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { sessionJson } from './session.js';
import { useCode } from './two-factor.js';

const newAccount = z.strictObject({ email: emailAddress, password: newPassword, name: personText(200).nullish() });
/** Not checked against the rules for new passwords: any fault in it is a wrong guess. */
const text = z.string('must be text').max(1000, 'must be at most 1000 characters');
const credentials = z.strictObject({
  email: text.trim().toLowerCase(),
  password: text,
  code: text.trim().nullish(),
});
const claim = z.strictObject({ token: text });

export function registerSignIn(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { signIns, limiter, demoClaim, twoFactor } = dashboard;
  const gate = new AdminGate(deps);
  const devices = new DeviceCookies(() => signIns.keyFor('device cookies'), dashboard.secure);
  const answerSignedIn = async (reply: FastifyReply, cookies: Cookies, session: Session) => {
    reply.header('set-cookie', cookies);
    return sessionJson(deps, dashboard, session);
  };

  app.post('/sign-up', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    if (dashboard.registration === 'closed') throw gatewayError('registration_closed');
    const { email, password, name } = bodyFields(request, newAccount);
    await checkNewPassword('password', password, { email, name });
    await limiter.take(signUpBuckets(callerPeer(request)));
    // A person without an account of their own is signed up too, and must not get another password.
    if (await deps.store.people.findByEmail(email)) throw gatewayError('account_exists', { email });
    const keepPassword = await signIns.hashPassword(password);
    const { address } = request.origin;
    const gateway = { actor: 'system', by: null, address } as const;
    const account = await deps.directory.createAccount(gateway, { email, name: name ?? null });
    await keepPassword(account, true);
    await deps.audit.record(personIn(request, account.id, account.id), 'account.sign_up', account.id, { address });
    const { welcomeCreditPico } = dashboard;
    if (welcomeCreditPico > 0n) await deps.directory.postCredit(gateway, account.id, welcomeCreditPico, 'Welcome');
    const cookies = await signIns.open(account.id);
    const session = await newSession(dashboard, cookies);
    return reply.code(201).send(await answerSignedIn(reply, [...cookies, await devices.make(email)], session));
  });

  app.post('/sign-in', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    const { email, password, code } = bodyFields(request, credentials);
    const device = await devices.deviceOf(request.headers.cookie, email);
    const peer = callerPeer(request);
    const buckets = signInBuckets({ peer, account: email, device });
    const personId = await limitGuesses(limiter, buckets, () => signIns.verifySignIn(email, password));
    if (!personId) throw gatewayError('sign_in_failed');
    const asksForCode = await twoFactor.isOn(personId);
    if (asksForCode) {
      if (!code) throw gatewayError('two_factor_required');
      await useCode(dashboard, request, personId, code);
    }
    if ((await deps.store.people.find(personId))?.status === 'suspended') throw gatewayError('person_suspended');
    const cookies = await signIns.open(personId, asksForCode);
    const session = await newSession(dashboard, cookies);
    const who = personIn(request, personId, session.current?.account.id);
    await deps.audit.record(who, 'session.open', personId);
    const withDevice = device === null ? [...cookies, await devices.make(email)] : cookies;
    return answerSignedIn(reply, withDevice, session);
  });

  app.post('/sign-in/admin-token', async (request, reply) => {
    const { token } = bodyFields(request, claim);
    const attempt = async () => (await gate.verify(token, request, request.origin.address)) || null;
    if (!(await limitGuesses(limiter, secretBuckets(callerPeer(request)), attempt)))
      throw gatewayError('operator_token_wrong');
    const cookies = await signIns.openByAdminToken();
    const session = await newSession(dashboard, cookies);
    const { address } = request.origin;
    await deps.audit.record({ actor: 'operator', by: 'admin_token', address }, 'session.open', 'admin_token');
    return answerSignedIn(reply, cookies, session);
  });

  app.post('/sign-out', async (request, reply) => {
    const { cookie } = request.headers;
    if (cookie !== undefined) reply.header('set-cookie', await signIns.signOut(cookie));
    return reply.code(204).send();
  });

  app.post('/claim', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    const { token } = bodyFields(request, claim);
    const buckets = secretBuckets(callerPeer(request));
    const claimed = await limitGuesses(limiter, buckets, () => demoClaim.take(token));
    if (!claimed) throw gatewayError('claim_invalid');
    const { account, personId } = claimed;
    await deps.audit.record(personIn(request, personId, account.id), 'account.claim', account.id);
    const cookies = await signIns.open(personId);
    return answerSignedIn(reply, cookies, await newSession(dashboard, cookies));
  });
}

/** The session that the new cookies identify. Throws no_membership for a person without an account, who gets none. */
export async function newSession({ signIns }: DashboardDeps, cookies: Cookies, wanted?: string): Promise<Session> {
  const header = cookies.map((cookie) => cookie.split(';', 1)[0]).join('; ');
  const { session } = await signIns.session(header, { wanted });
  if (!session) throw gatewayError('no_membership');
  return session;
}

const yearSeconds = 365 * 86_400;

/**
 * A cookie that a browser gets when it signs in. It proves later that this browser once knew the account's password. It gives no
 * access; it only keeps the guesses of others from counting against the owner.
 */
class DeviceCookies {
  constructor(
    /** The same in every process of a fleet, so that each of them recognises the browser. */
    private readonly key: () => Promise<Buffer>,
    private readonly secure: boolean,
  ) {}

  /** The id of the browser, where it has signed in to this account before. */
  async deviceOf(cookieHeader: string | undefined, email: string): Promise<string | null> {
    const cookie = cookieValue(cookieHeader, this.name);
    if (cookie === undefined) return null;
    const [device = '', proof = ''] = cookie.split('.');
    const expected = Buffer.from(await this.proof(device, email));
    const given = Buffer.from(proof);
    return given.length === expected.length && timingSafeEqual(given, expected) ? device : null;
  }

  async make(email: string): Promise<string> {
    const device = randomBytes(12).toString('base64url');
    const attributes = `Max-Age=${yearSeconds}; Path=/; HttpOnly; SameSite=Strict${this.secure ? '; Secure' : ''}`;
    return `${this.name}=${device}.${await this.proof(device, email)}; ${attributes}`;
  }

  private get name(): string {
    return cookieName('device', this.secure);
  }

  private async proof(device: string, email: string): Promise<string> {
    return createHmac('sha256', await this.key())
      .update(`${device} ${email}`)
      .digest('base64url');
  }
}
