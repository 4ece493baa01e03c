/** `GET /admin/v1/audit`: the audit log, newest first. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/audit.js';
import { shownPersonId } from '../../domain/organisation.js';
import { auditEntryJson } from '../api/audit.js';
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
      data: entries.map(auditEntryJson),
    };
  });
}

/** Whom the audit log names: the person of the session, the key, else the holder of the admin token. */
export function actorOf(request: FastifyRequest): Caller {
  const { session, identity, origin } = request;
  if (session) return personIn(request, session.account.id);
  if (!identity) return { actor: 'operator', by: 'admin_token', address: origin.address };
  return { actor: `account:${identity.account.id}`, by: `key:${identity.key.id}`, address: origin.address };
}

/** Who signs in to an account, before there is a session. */
export function personIn({ origin }: FastifyRequest, accountId: string): Caller {
  return { actor: `account:${accountId}`, by: `person:${shownPersonId(accountId)}`, address: origin.address };
}
