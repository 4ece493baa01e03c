/** Reads query parameters. An invalid one is a 400 that names it. */

import type { FastifyRequest } from 'fastify';
import { isTimeOrderedId } from '../base/ids.js';
import { instantMs } from '../base/time.js';
import { gatewayError } from '../errors/gateway-error.js';

/** An absent or empty parameter is undefined; one that is sent twice is refused. */
export function queryText(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name];
  if (value === undefined || value === '') return undefined;
  // PostgreSQL text cannot hold a NUL.
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw gatewayError('field_invalid', { param: name, reason: 'must be sent once, as plain text' });
}

/** One of `values`. An absent parameter is undefined; an empty one is a fault. */
export function queryChoice<T extends string>(
  request: FastifyRequest,
  name: string,
  values: readonly T[],
): T | undefined {
  const text = isEmpty(request, name) ? '' : queryText(request, name);
  if (text === undefined) return undefined;
  const value = values.find((candidate) => candidate === text);
  if (!value) throw gatewayError('field_invalid', { param: name, reason: `must be one of ${values.join(', ')}` });
  return value;
}

/** A date, or a time of RFC 3339, in milliseconds. An absent or empty parameter is undefined. */
export function queryInstant(request: FastifyRequest, name: string): number | undefined {
  const text = queryText(request, name);
  if (text === undefined) return undefined;
  const ms = instantMs(text);
  if (ms !== undefined) return ms;
  throw gatewayError('field_invalid', { param: name, reason: 'must be an RFC 3339 time or a date' });
}

/** The rule for a number in the query. Both the check and the OpenAPI document use it. */
export interface NumberParameter {
  readonly name: string;
  readonly description: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
}

/** How many entries a list has at most, and how many where nobody says. */
export function limitRule(usual: number, max: number, description = 'How many.'): NumberParameter {
  return { name: 'limit', description, default: usual, min: 1, max };
}

/** How many entries a page of a list has. */
export const pageLimit = limitRule(100, 200);

/** The lists in the order of their ids: after an entry that is gone they go on where it was. */
const beginnings = { project: 'proj-', credential: 'cred-' } as const;

/** The entries that `limit` and `after` (the id of the last entry of the page before) ask for. */
export function pageOf<T extends { readonly id: string }>(
  request: FastifyRequest,
  all: readonly T[],
  what: keyof typeof beginnings,
): T[] {
  const limit = queryNumber(request, pageLimit);
  const after = queryText(request, 'after');
  if (after === undefined) return all.slice(0, limit);
  const at = all.findIndex(({ id }) => id === after);
  if (at >= 0) return all.slice(at + 1, at + 1 + limit);
  const beginning = beginnings[what];
  if (after.startsWith(beginning) && isTimeOrderedId(after.slice(beginning.length)))
    return all.filter(({ id }) => id > after).slice(0, limit);
  const reason = `is "${after.slice(0, 100)}", but there is no ${what} with this id`;
  throw gatewayError('field_invalid', { param: 'after', reason });
}

/** The `after` of a list that changes between its pages: the id of an entry, which may be gone. Anything else is a fault. */
export function queryId(request: FastifyRequest, kind: string): string | undefined {
  const after = queryText(request, 'after');
  if (after === undefined || (after.startsWith(`${kind}-`) && /^\w+-\w+$/.test(after))) return after;
  const reason = `is "${after.slice(0, 100)}", but must be the id of an entry, which begins with ${kind}-`;
  throw gatewayError('field_invalid', { param: 'after', reason });
}

/** An absent parameter has its default; an empty one is a fault. */
export function queryNumber(request: FastifyRequest, rule: NumberParameter): number {
  const { name } = rule;
  const text = isEmpty(request, name) ? '' : queryText(request, name);
  if (text === undefined) return rule.default;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= rule.min && value <= rule.max) return value;
  const reason = `is "${text.slice(0, 50)}", but must be a whole number from ${rule.min} to ${rule.max}`;
  throw gatewayError('field_invalid', { param: name, reason });
}

function isEmpty(request: FastifyRequest, name: string): boolean {
  return (request.query as Record<string, unknown>)[name] === '';
}
