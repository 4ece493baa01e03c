/** Who the audit says it was: the account whose session it is, else whoever holds the admin token. */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/audit.js';

export function actorOf({ session }: FastifyRequest): Actor {
  return session ? `account:${session.account.id}` : 'operator';
}
