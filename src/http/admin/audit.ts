/** `GET /admin/v1/audit`: the audit log, newest first. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';
import type { Session } from '../../accounts/sign-in/session.js';
import { shownPersonId } from '../../domain/organisation.js';
import type { HttpDeps } from '../deps.js';
import { type NumberParameter, queryNumber } from '../query.js';

export const auditLimit: NumberParameter = {
  name: 'limit',
  description: 'How many entries, newest first.',
  default: 100,
  min: 1,
  max: 1000,
};

export function registerAudit(app: FastifyInstance, { store }: HttpDeps): void {
  app.get('/audit', async (request) => {
    const entries = await store.audit.list(queryNumber(request, auditLimit));
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

/** Whom the audit log names: who is signed in, else the holder of the admin token. */
export function actorOf({ session }: FastifyRequest): Actor {
  return session ? signedInActor(session) : 'operator';
}

/** Who signed up with an account and acts in it is named by the account, as before accounts had several people. */
export function signedInActor({ person, current }: Session): Actor {
  const isOwn = person.id === current?.account.id;
  return isOwn ? `account:${person.id}` : `person:${shownPersonId(person.id)}`;
}
