/** The API of an account: under `/v1` with an API key, and in the dashboard with a session. */
import type { FastifyInstance } from 'fastify';
import { requireKey } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { registerActivity } from './activity.js';
import { registerAliases } from './aliases.js';
import { registerOwnAudit } from './audit.js';
import { registerGenerations } from './generations.js';
import { registerManagedKeys } from './keys.js';
import { registerModels } from './models.js';
import { registerCredits, registerKey } from './own-key.js';
import { registerProof } from './proof.js';
import { registerExplain, registerFallback, registerRoutingPolicy } from './routing.js';

export async function registerApi(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  requireKey(app, deps);
  await registerAccountResources(app, deps);
  registerKey(app, deps);
  registerManagedKeys(app, deps);
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
  await registerExplain(app, deps);
}
