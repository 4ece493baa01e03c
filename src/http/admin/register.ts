/** The operators' API: under `/admin/v1` with the admin token, and in the dashboard with a session. */
import type { FastifyInstance } from 'fastify';
import { registerAllActivity } from '../api/activity.js';
import { registerAnyProof } from '../api/proof.js';
import { registerAccountCredentials } from '../credentials/credentials.js';
import type { HttpDeps } from '../deps.js';
import { registerAccountKeys } from '../keys/keys.js';
import { registerAccountMembers } from '../people/members.js';
import { registerPeople } from '../people/people.js';
import { registerAccountProjects } from '../projects/projects.js';
import { checkAnnouncedBody } from '../server/body.js';
import { registerAccounts, registerTwoFactorReset } from './accounts.js';
import { requireAdminToken } from './admin-gate.js';
import { registerAudit } from './audit.js';
import { registerBilledLines } from './billed-lines.js';
import { registerCatalogueUpdates } from './catalogue-updates.js';
import { registerCreditsAndLedger } from './credits.js';
import { registerExport } from './export.js';
import { registerLogKey } from './log-key.js';
import { registerNames } from './names.js';
import { registerCatalogue, registerModelAvailability, registerRouteHistory, registerRoutes } from './routes.js';
import { registerStorage } from './storage.js';

export async function registerAdmin(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  requireAdminToken(app, deps);
  app.addHook('onRequest', async (request, reply) => {
    checkAnnouncedBody(request, deps.bodyMemory);
    reply.header('cache-control', 'no-store');
  });
  registerOperatorResources(app, deps);
}

/** The endpoints without the check of who is calling. */
export function registerOperatorResources(app: FastifyInstance, deps: HttpDeps): void {
  registerAccounts(app, deps);
  registerTwoFactorReset(app, deps);
  registerAccountMembers(app, deps);
  registerPeople(app, deps);
  registerCreditsAndLedger(app, deps);
  registerAccountKeys(app, deps);
  registerAccountProjects(app, deps);
  registerAccountCredentials(app, deps);
  registerRoutes(app, deps);
  registerRouteHistory(app, deps);
  registerModelAvailability(app, deps);
  registerCatalogue(app, deps);
  registerNames(app, deps);
  registerCatalogueUpdates(app, deps);
  registerAudit(app, deps);
  registerBilledLines(app, deps);
  registerAllActivity(app, deps);
  registerStorage(app, deps);
  registerExport(app, deps);
  registerAnyProof(app, deps);
  registerLogKey(app, deps);
}
