/** `GET /admin/v1/audit`: the audit log, newest first. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ActorDetails } from '../../accounts/audit.js';
import { shownPersonId } from '../../domain/organisation.js';
import { adminUserId } from '../../storage/store.js';
import { auditEntryJson, shownEntry } from '../api/audit.js';
import type { HttpDeps } from '../deps.js';
import { list, operation, record } from '../openapi/resource.js';
import * as s from '../openapi/schema.js';
import { limitRule, queryNumber } from '../query.js';

export const auditLimit = limitRule(100, 1000, 'How many entries, newest first.');

export function registerAudit(app: FastifyInstance, { store }: HttpDeps): void {
  app.get('/audit', async (request) => {
    const entries = await store.audit.list(queryNumber(request, auditLimit));
    return {
      object: 'list',
      data: entries.map(auditEntryJson),
    };
  });
}

/**
 * Whom the audit log names: the person of the session, the key, else the holder of the admin token. An operator who did not sign up with
 * the account of the session is `operator`, so that the account that they change does not learn who it was.
 */
export function actorOf(request: FastifyRequest): ActorDetails {
  const { session, identity, origin } = request;
  if (session) {
    const caller = personIn(request, session.person.id, session.current?.account.id);
    const isOperator = request.routeOptions.config.right === 'operator' && caller.actor === caller.by;
    return isOperator ? { ...caller, actor: 'operator' } : caller;
  }
  if (!identity) return { actor: 'operator', by: 'admin_token', address: origin.address };
  return { actor: `account:${identity.account.id}`, by: `key:${identity.key.id}`, address: origin.address };
}

/** Whom the audit log names for changes of people: the person of the session, the key, or an operator, and never the account. */
export function actingPerson(request: FastifyRequest): ActorDetails {
  const caller = actorOf(request);
  if (!caller.actor.startsWith('account:')) return caller;
  const isOperator = request.routeOptions.config.right === 'operator';
  return { ...caller, actor: isOperator ? 'operator' : (caller.by as ActorDetails['actor']) };
}

/** Who signed up with an account and acts in it is named by the account, as before accounts had several people. */
export function personIn({ origin }: FastifyRequest, personId: string, accountId: string | undefined): ActorDetails {
  if (personId === adminUserId) return { actor: 'operator', by: 'admin_token', address: origin.address };
  const by = `person:${shownPersonId(personId)}` as const;
  return { actor: personId === accountId ? `account:${personId}` : by, by, address: origin.address };
}

export const auditOperation = operation('listAudit', 'Who did what', {
  parameters: [s.numberParameter(auditLimit)],
  answers: list(record('AuditEntry', shownEntry), 'The entries.'),
});
