/** `/dashboard/api/sessions`: where the person is signed in. Ending a session holds for the next request, on every replica. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { gatewayError } from '../../errors/gateway-error.js';
import type { OpenSession } from '../../storage/store.js';
import { actorOf } from '../admin/audit.js';
import type { HttpDeps } from '../deps.js';
import { sessionOf } from './require-session.js';

export function registerSessions(app: FastifyInstance, deps: HttpDeps): void {
  const { store, clock } = deps;

  app.get('/sessions', async (request) => {
    const { id, person } = sessionOf(request);
    const open = await store.signIn.sessionsOf(person.id, clock.now());
    return { object: 'list', data: open.map((each) => sessionEntryJson(each, id)) };
  });

  app.delete<{ Params: { id: string } }>('/sessions/:id', async (request, reply) => {
    const { id } = request.params;
    const ended = await store.signIn.endSessions(sessionOf(request).person.id, { id });
    if (ended === 0) throw gatewayError('resource_not_found', { what: 'session', id: id.slice(0, 100) });
    await recordEnd(deps, request, ended);
    return reply.code(204).send();
  });

  /** All but the one that asks. */
  app.delete('/sessions', async (request) => {
    const { id, person } = sessionOf(request);
    const ended = await store.signIn.endSessions(person.id, { keptId: id });
    if (ended > 0) await recordEnd(deps, request, ended);
    return { ended };
  });
}

async function recordEnd({ audit }: HttpDeps, request: FastifyRequest, ended: number): Promise<void> {
  await audit.record(actorOf(request), 'session.end', sessionOf(request).person.id, { sessions: ended });
}

function sessionEntryJson(entry: OpenSession, currentId: string) {
  return {
    object: 'session',
    id: entry.id,
    current: entry.id === currentId,
    opened_by: entry.byProvider ? 'provider' : 'password',
    user_agent: entry.userAgent,
    created_at: new Date(entry.createdAt).toISOString(),
    last_used_at: new Date(entry.lastUsedAt).toISOString(),
    expires_at: new Date(entry.expiresAt).toISOString(),
  };
}
