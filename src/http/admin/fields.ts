/** Bodies of the admin API, checked by zod; the first fault is a 400 that names the field and the value. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { passwordLength } from '../../accounts/sign-in/password-length.js';
import { gatewayError } from '../../errors/gateway-error.js';
import { jsonBody } from '../body.js';

/** Text that a person wrote: no control characters, no lone surrogates, both of which a store or a terminal may refuse. */
export const personText = (max: number) =>
  z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max, `must be at most ${max} characters`)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not have control characters');

export const emailAddress = z
  .string()
  .trim()
  .toLowerCase()
  .max(254, 'must be at most 254 characters')
  .pipe(z.email('must be an e-mail address'));

export const newPassword = z
  .string()
  .min(passwordLength.min, `must have at least ${passwordLength.min} characters`)
  .max(passwordLength.max, `must be at most ${passwordLength.max} characters`);

export const countryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be an ISO 3166-1 code of two letters')
  .transform((code) => code.toUpperCase());

export function bodyFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  const body = jsonBody(request);
  const checked = schema.safeParse(body);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw faultOf(issue!, body);
}

function faultOf(issue: z.core.$ZodIssue, body: unknown) {
  if (issue.code === 'unrecognized_keys') {
    const param = [...issue.path, issue.keys[0]].join('.').slice(0, 100);
    return gatewayError('field_invalid', { param, reason: 'is not a field of this request' });
  }
  const value = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    body,
  );
  const found = value === undefined ? 'is missing' : `is ${shownValue(issue.path.at(-1), value)}`;
  return gatewayError('field_invalid', { param: issue.path.join('.'), reason: `${found}: ${ruleText(issue)}` });
}

const secretFields = new Set<PropertyKey>(['password', 'current_password', 'new_password', 'admin_token', 'token']);

/** A password is named, never shown. */
function shownValue(field: PropertyKey | undefined, value: unknown): string {
  if (field !== undefined && secretFields.has(field)) return 'not accepted';
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function ruleText({ message }: z.core.$ZodIssue): string {
  return message.replace(/^Invalid (input|option): /, '').replace(/\.$/, '');
}
