/** `POST playground/chat`: a chat request of the signed-in account, through the very pipeline that a key's request takes. */
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../authenticate.js';
import type { DashboardDeps } from './dashboard-deps.js';

export function registerPlayground(app: FastifyInstance, { playground }: DashboardDeps): void {
  app.post('/playground/chat', {
    // The last hook before the framework would read the body; the pipeline reads it itself.
    onRequest: async (request, reply) => {
      reply.hijack();
      playground(request.raw, reply.raw, callerOf(request), request.id);
    },
    handler: () => {},
  });
}
