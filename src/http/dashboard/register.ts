/** The dashboard: its pages under `/dashboard`, and its own API under `/dashboard/api`. */
import type { FastifyInstance } from 'fastify';
import { registerOperatorResources } from '../admin/register.js';
import { registerOwnAccount } from '../api/account.js';
import { registerOwnAudit } from '../api/audit.js';
import { registerBudget } from '../api/budget.js';
import { registerAccountResources } from '../api/register.js';
import { callerOf } from '../authenticate.js';
import { registerCredentials } from '../credentials/credentials.js';
import type { HttpDeps } from '../deps.js';
import { registerInvitations, registerMembers } from '../people/members.js';
import { registerProjects } from '../projects/projects.js';
import { registerAcceptInvitation } from './accept-invitation.js';
import { registerAuditLog } from './audit-log.js';
import { playgroundDoors, registerCatalogueView } from './catalogue.js';
import { registerCloseAccount } from './close-account.js';
import { registerCheckout, registerOwnCredits } from './credits.js';
import type { DashboardDeps } from './dashboard-deps.js';
import { registerOwnKeys } from './keys.js';
import { registerModelHistory } from './model-history.js';
import { registerNotices, registerWebhookTest } from './notices.js';
import { registerBackChannel, registerIdentities, registerOidc } from './oidc.js';
import { registerOverview } from './overview.js';
import { registerPages } from './pages.js';
import { registerPasswordReset } from './password-reset.js';
import { registerPolicyPreview } from './policy-preview.js';
import { registerProjectNames } from './project-names.js';
import { registerOperatorReport, registerReport } from './report.js';
import { registerOperatorRequests, registerRequests } from './requests.js';
import { requireOperator, requireSession } from './require-session.js';
import { checkSameOrigin } from './same-origin.js';
import { registerOwnSession, registerSession } from './session.js';
import { registerSessions } from './sessions.js';
import { registerSignIn } from './sign-in.js';
import { registerTwoFactor } from './two-factor.js';
import { registerUsage } from './usage.js';

export async function registerDashboard(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  const { dashboard } = deps;
  if (!dashboard) return;
  await registerPages(app, dashboard);
  await app.register(async (api) => registerBackChannel(api, deps, dashboard), { prefix: '/dashboard/api' });
  await app.register(
    async (api) => {
      api.addHook('onRequest', async (request, reply) => {
        reply.headers({ 'cache-control': 'no-store', 'cross-origin-resource-policy': 'same-origin' });
        checkSameOrigin(request, dashboard);
      });
      registerSession(api, deps, dashboard);
      registerSignIn(api, deps, dashboard);
      registerPasswordReset(api, dashboard);
      registerAcceptInvitation(api, deps, dashboard);
      registerOidc(api, deps, dashboard);
      await api.register(async (own) => registerSignedIn(own, deps, dashboard));
    },
    { prefix: '/dashboard/api' },
  );
}

async function registerSignedIn(app: FastifyInstance, deps: HttpDeps, dashboard: DashboardDeps): Promise<void> {
  requireSession(app, deps, dashboard);
  registerOwnSession(app, deps, dashboard);
  registerTwoFactor(app, deps, dashboard);
  registerSessions(app, deps);
  registerCloseAccount(app, deps, dashboard);
  registerIdentities(app, deps, dashboard);
  registerOverview(app, deps);
  registerOwnKeys(app, deps);
  // Beside the resources of an account, which are under `/v1` here too.
  for (const prefix of ['', '/v1']) {
    registerProjects(app, deps, prefix);
    registerCredentials(app, deps, prefix);
    registerOwnAccount(app, deps, prefix);
  }
  registerProjectNames(app);
  registerOwnAudit(app, deps, '');
  registerBudget(app, deps, '');
  registerCatalogueView(app, deps);
  registerModelHistory(app, deps);
  registerPolicyPreview(app, deps);
  registerUsage(app, deps);
  registerReport(app, deps);
  registerRequests(app, deps);
  registerOwnCredits(app, deps, dashboard);
  registerCheckout(app, deps, dashboard);
  registerNotices(app, deps, dashboard);
  registerPlayground(app, dashboard);
  await registerAccountResources(app, deps);
  registerMembers(app, deps, '');
  registerInvitations(app, deps, '');
  await app.register(
    async (operators) => {
      requireOperator(operators, dashboard);
      registerOperatorResources(operators, deps);
      registerOperatorReport(operators, deps);
      registerOperatorRequests(operators, deps);
      registerAuditLog(operators, deps);
      registerWebhookTest(operators, deps);
    },
    { prefix: '/operator' },
  );
}

/** `POST playground/{api}` runs a request of the signed-in account through the same pipeline as requests with a key. */
function registerPlayground(app: FastifyInstance, { playground }: DashboardDeps): void {
  for (const door of playgroundDoors) {
    app.post(`/playground/${door.name}`, {
      // The last hook before Fastify would read the body. The pipeline reads it.
      onRequest: async (request, reply) => {
        reply.hijack();
        playground(door, request.raw, reply.raw, callerOf(request), request.id);
      },
      handler: () => {},
    });
  }
}
