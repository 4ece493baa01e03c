/** The resources under `/v1`, all behind the key check. The dashboard has the same ones behind its session. */
import type { FastifyInstance } from 'fastify';
import { requireKey } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { registerAliases } from './aliases.js';
import { registerGenerations } from './generations.js';
import { registerModels } from './models.js';
import { registerCredits, registerKey } from './own-key.js';
import { registerExplain, registerFallback, registerRoutingPolicy } from './routing.js';

export async function registerApi(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  requireKey(app, deps);
  await registerAccountResources(app, deps);
  registerKey(app, deps);
}

/** Everything that belongs to an account, whoever speaks for it. */
export async function registerAccountResources(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  registerModels(app, deps);
  registerAliases(app, deps);
  registerFallback(app, deps);
  registerRoutingPolicy(app, deps);
  registerGenerations(app, deps);
  registerCredits(app, deps);
  await registerExplain(app, deps);
}
