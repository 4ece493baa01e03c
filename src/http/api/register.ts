/** The API of an account: under `/v1` with an API key, and in the dashboard with a session. */
import type { FastifyInstance } from 'fastify';
import { requireKey } from '../authenticate.js';
import { registerCredentials } from '../credentials/credentials.js';
import type { HttpDeps } from '../deps.js';
import { registerManagedKeys } from '../keys/keys.js';
import { registerInvitations, registerMembers } from '../people/members.js';
import { registerProjects } from '../projects/projects.js';
import { assignRights } from '../rights.js';
import { registerOwnAccount } from './account.js';
import { registerActivity } from './activity.js';
import { registerAliases } from './aliases.js';
import { registerOwnAudit } from './audit.js';
import { registerBudget } from './budget.js';
import { registerGenerations } from './generations.js';
import { registerModels } from './models.js';
import { registerCredits, registerKey } from './own-key.js';
import { registerProof } from './proof.js';
import { registerExplain, registerFallback, registerRoutingPolicy } from './routing.js';

export async function registerApi(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  assignRights(app);
  requireKey(app, deps);
  await registerAccountResources(app, deps);
  registerKey(app, deps);
  registerBudget(app, deps, '/v1');
  registerManagedKeys(app, deps);
  registerProjects(app, deps, '/v1');
  registerCredentials(app, deps, '/v1');
  registerOwnAccount(app, deps, '/v1');
  registerOwnAudit(app, deps, '/v1');
}

/** The endpoints without the check of who is calling. */
export async function registerAccountResources(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  registerModels(app, deps);
  registerAliases(app, deps);
  registerFallback(app, deps);
  registerRoutingPolicy(app, deps);
  registerGenerations(app, deps);
  registerProof(app, deps);
  registerActivity(app, deps);
  registerCredits(app, deps);
  registerMembers(app, deps, '/v1');
  registerInvitations(app, deps, '/v1');
  await registerExplain(app, deps);
}
