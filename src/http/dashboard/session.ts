/** `GET session`: who is signed in, and what the dashboard has to know before anybody is. */
import type { FastifyInstance } from 'fastify';
import { demoEmail } from '../../accounts/sign-in/demo-claim.js';
import type { Session } from '../../accounts/sign-in/sign-ins.js';
import { type PicoUsd, usdText } from '../../base/money.js';
import type { BalanceLevel } from '../../domain/notice.js';
import type { HttpDeps } from '../deps.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { readSession } from './require-session.js';

export function registerSession(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): void {
  app.get('/session', async (request, reply) =>
    sessionJson(deps, dashboard, await readSession(request, reply, dashboard)),
  );
}

export async function sessionJson({ limits, store }: HttpDeps, dashboard: DashboardDeps, session: Session | null) {
  const { registration, version, signIns } = dashboard;
  const { base, docs } = dashboard.addresses();
  const common = { registration, base_url: base, docs_url: docs, version };
  if (!session) return { signed_in: false, ...common };
  const { account, operatorBy } = session;
  const thresholdPico = (await store.notices.threshold(account.id)) ?? dashboard.lowBalancePico;
  return {
    signed_in: true,
    ...common,
    account: {
      id: account.id,
      email: account.email,
      name: account.name,
      status: account.status,
      balance_usd: usdText(account.balancePico),
      low_balance_usd: usdText(thresholdPico),
      balance_level: balanceLevel(account.balancePico, thresholdPico),
      limits: {
        requests_per_minute: account.limits.requestsPerMinute ?? limits.keyRequestsPerMinute,
        tokens_per_minute: account.limits.tokensPerMinute ?? limits.keyTokensPerMinute,
      },
      created_at: new Date(account.createdAt).toISOString(),
    },
    operator: operatorBy !== null,
    operator_by: operatorBy,
    has_password: await signIns.hasPassword(account.id),
    demo: account.email === demoEmail,
  };
}

/** For the pages' banner. That requests are refused is told also to whoever wants no notice. */
function balanceLevel(balancePico: PicoUsd, thresholdPico: PicoUsd): 'fine' | BalanceLevel {
  if (balancePico <= 0n) return 'exhausted';
  return balancePico < thresholdPico ? 'low' : 'fine';
}
