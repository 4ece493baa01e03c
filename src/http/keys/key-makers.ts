/** Which keys of an account a caller sees and makes. A developer has the keys that they hold, and others are none of their business. */
import type { FastifyRequest } from 'fastify';
import { checkRight, mayDo } from '../../accounts/roles.js';
import { standingOf } from '../rights.js';
import { jsonBody } from '../server/body.js';

export const managesKeys = (request: FastifyRequest): boolean => mayDo(standingOf(request), 'keys.manage');
export const seesKeys = (request: FastifyRequest): boolean =>
  standingOf(request).role === 'auditor' || managesKeys(request);

/** The stored id of the person who holds every key that the caller makes; null where they may make others. Throws role_required. */
export function makersHolder(request: FastifyRequest): string | null {
  if (managesKeys(request)) return null;
  if (sentField(request, 'kind') === 'management' || sentField(request, 'holder') !== undefined)
    checkRight(standingOf(request), 'keys.manage');
  return holderOf(request);
}

/** The stored id of the person of the session. */
export function holderOf({ session }: FastifyRequest): string {
  if (!session) throw new Error('only a session has a person who holds keys');
  return session.person.id;
}

export function sentField(request: FastifyRequest, name: string): unknown {
  return (jsonBody(request) as Record<string, unknown>)[name];
}
