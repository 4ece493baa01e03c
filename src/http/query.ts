/** Reads query parameters. An invalid one is a 400 that names it. */
import type { FastifyRequest } from 'fastify';
import { gatewayError } from '../errors/gateway-error.js';

/** An absent or empty parameter is undefined; one that is sent twice is refused. */
export function queryText(request: FastifyRequest, name: string): string | undefined {
  const value = (request.query as Record<string, unknown>)[name];
  if (value === undefined || value === '') return undefined;
  // PostgreSQL text cannot hold a NUL.
  if (typeof value === 'string' && !value.includes('\0')) return value;
  throw gatewayError('field_invalid', { param: name, reason: 'must be sent once, as plain text' });
}

/** The rule for a number in the query. Both the check and the OpenAPI document use it. */
export interface NumberParameter {
  readonly name: string;
  readonly description: string;
  readonly default: number;
  readonly min: number;
  readonly max: number;
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
