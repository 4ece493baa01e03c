/** `GET /admin/v1/audit`: who did what, newest first. */
import type { FastifyInstance } from 'fastify';
import type { HttpDeps } from '../deps.js';
import { queryNumber } from '../query.js';

export const auditLimit = { default: 100, min: 1, max: 1000 };

export function registerAudit(app: FastifyInstance, { store }: HttpDeps): void {
  app.get('/audit', async (request) => {
    const entries = await store.audit.list(queryNumber(request, 'limit', auditLimit));
    return {
      object: 'list',
      data: entries.map(({ id, createdAt, actor, action, subject, details }) => ({
        id,
        created_at: new Date(createdAt).toISOString(),
        actor,
        action,
        subject,
        details,
      })),
    };
  });
}
