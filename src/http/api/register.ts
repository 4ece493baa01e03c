/** The resources under `/v1`, all behind the key check. */
import type { FastifyInstance } from 'fastify';
import { requireKey } from '../authenticate.js';
import type { HttpDeps } from '../deps.js';
import { registerAliases } from './aliases.js';
import { registerCredits } from './credits.js';
import { registerGenerations } from './generations.js';
import { registerKey } from './key.js';
import { registerModels } from './models.js';

export async function registerApi(app: FastifyInstance, deps: HttpDeps): Promise<void> {
  requireKey(app, deps);
  registerModels(app, deps);
  registerAliases(app, deps);
  registerGenerations(app, deps);
  registerCredits(app);
  registerKey(app, deps);
}
