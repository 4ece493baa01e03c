/** The session of the dashboard: who is signed in, password changes, and operator rights by the admin token. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { lackedRights, mayDo } from '../../accounts/roles.js';
import { demoEmail } from '../../accounts/sign-in/demo-claim.js';
import { checkNewPassword } from '../../accounts/sign-in/password-rules.js';
import type { AccountStanding, Session } from '../../accounts/sign-in/session.js';
import { type PicoUsd, usdText } from '../../base/money.js';
import type { BalanceLevel } from '../../domain/notice.js';
import { shownPersonId } from '../../domain/organisation.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { AdminGate } from '../admin/admin-gate.js';
import { actorOf, personIn } from '../admin/audit.js';
import { bodyFields, newPassword } from '../admin/fields.js';
import type { HttpDeps } from '../deps.js';
import { checkPasswordsAllowed } from '../password-sign-in.js';
import { callerPeer, limitGuesses, secretBuckets, signInBuckets } from './attempts.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { checkSecondFactor, readSession, sessionOf } from './require-session.js';

export function registerSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  app.get('/session', async (request, reply) =>
    sessionJson(deps, dashboard, await readSession(request, reply, dashboard)),
  );
}

export async function sessionJson(deps: HttpDeps, dashboard: DashboardDeps, session: Session | null) {
  const { version, signIns, passwords } = dashboard;
  const registration = passwords ? dashboard.registration : 'closed';
  const { base, docs } = dashboard.addresses();
  const password_reset = dashboard.resets.sendsMail ? 'mail' : 'operator';
  const common = {
    registration,
    base_url: base,
    docs_url: docs,
    status_url: deps.statusIsPublic ? `${base}/status` : null,
    version,
    payments: dashboard.payments,
    password_reset,
    sign_in: { password: passwords, providers: dashboard.singleSignOn.list() },
  };
  if (!session) return { signed_in: false, ...common };
  const { person, current, standings, operatorBy, twoFactor, isStrong } = session;
  const { operatorsNeedTwoFactor } = dashboard;
  return {
    signed_in: true,
    ...common,
    person: { id: shownPersonId(person.id), email: person.email, name: person.name },
    account: current && (await accountJson(deps, dashboard, current)),
    role: current?.role ?? null,
    projects: current?.projects ?? null,
    /** For the pages, which say why somebody cannot do a thing. */
    lacks: current ? lackedRights(current) : {},
    accounts: await accountChoices(deps, standings),
    operator: operatorBy !== null && (isStrong || !operatorsNeedTwoFactor),
    operator_by: operatorBy,
    opened_by: session.openedBy,
    has_password: await signIns.hasPassword(person.id),
    two_factor: twoFactor,
    operators_need_two_factor: operatorsNeedTwoFactor,
    demo: current?.account.email === demoEmail,
  };
}

async function accountJson({ limits, store }: HttpDeps, dashboard: DashboardDeps, current: AccountStanding) {
  const { account } = current;
  const thresholdPico = (await store.notices.threshold(account.id)) ?? dashboard.lowBalancePico;
  // The balance is for those who may read the credits.
  const shown = mayDo(current, 'credits.read');
  return {
    id: account.id,
    email: account.email,
    name: account.name,
    status: account.status,
    balance_usd: shown ? usdText(account.balancePico) : null,
    low_balance_usd: shown ? usdText(thresholdPico) : null,
    balance_level: shown ? balanceLevel(account.balancePico, thresholdPico) : 'fine',
    limits: {
      requests_per_minute: account.limits.requestsPerMinute ?? limits.keyRequestsPerMinute,
      tokens_per_minute: account.limits.tokensPerMinute ?? limits.keyTokensPerMinute,
    },
    created_at: new Date(account.createdAt).toISOString(),
  };
}

/** The accounts that the person can change to. */
async function accountChoices({ directory }: HttpDeps, standings: Session['standings']) {
  const choices = [];
  for (const [id, { role }] of standings) {
    const account = await directory.account(id);
    if (account) choices.push({ id, email: account.email, name: account.name, role });
  }
  return choices;
}

/** For the banner of the pages. `exhausted` is shown also to accounts that want no notice. */
function balanceLevel(balancePico: PicoUsd, thresholdPico: PicoUsd): 'fine' | BalanceLevel {
  if (balancePico <= 0n) return 'exhausted';
  return balancePico < thresholdPico ? 'low' : 'fine';
}

const text = z.string('must be text').max(1000, 'must be at most 1000 characters');
const passwordChange = z.strictObject({ current_password: text.nullish(), new_password: newPassword });
const adminProof = z.strictObject({ admin_token: text });

export function registerOwnSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  const { signIns, limiter } = dashboard;
  const gate = new AdminGate(deps);

  app.post('/change-password', async (request, reply) => {
    checkPasswordsAllowed(dashboard);
    const session = sessionOf(request);
    const { person } = session;
    const { current_password = null, new_password } = bodyFields(request, passwordChange);
    await checkNewPassword('new_password', new_password, person);
    const buckets = signInBuckets({ peer: callerPeer(request), account: person.id, device: null });
    const attempt = async () => (await signIns.changePassword(person.id, current_password, new_password)) || null;
    const changed = await limitGuesses(limiter, buckets, attempt);
    if (!changed) throw gatewayError('current_password_wrong');
    await deps.audit.record(actorOf(request), 'account.password', person.id);
    reply.header('set-cookie', await signIns.open(person.id, session.twoFactor));
    return sessionJson(deps, dashboard, withoutAdminToken(session));
  });

  app.post('/operator', async (request) => {
    const session = sessionOf(request);
    const { admin_token } = bodyFields(request, adminProof);
    checkSecondFactor(session, dashboard);
    const attempt = async () => (await gate.verify(admin_token, request, request.origin.address)) || null;
    if (!(await limitGuesses(limiter, secretBuckets(callerPeer(request)), attempt))) {
      throw gatewayError('operator_token_wrong');
    }
    await signIns.setSessionOperator(session, true);
    const who = personIn(request, session.person.id, session.current?.account.id);
    await deps.audit.record(who, 'session.operator', session.person.id);
    return sessionJson(deps, dashboard, { ...session, operatorBy: session.operatorBy ?? 'session' });
  });

  app.delete('/operator', async (request) => {
    const session = sessionOf(request);
    await signIns.setSessionOperator(session, false);
    return sessionJson(deps, dashboard, withoutAdminToken(session));
  });
}

/** The session without the rights that the admin token gave it. */
export function withoutAdminToken(session: Session): Session {
  return { ...session, operatorBy: session.operatorBy === 'session' ? null : session.operatorBy };
}
