/** Checks request bodies with zod. The first fault is a 400 that names the field and the value. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { passwordLength } from '../../accounts/sign-in/password-rules.js';
import { GatewayError, gatewayError } from '../../errors/gateway-error.js';
import { jsonBody } from '../server/body.js';

interface TextRules {
  minLength?: number;
  maxLength: number;
  pattern?: string;
  messages: { minLength?: string; maxLength: string; pattern?: string };
}

/**
 * A text field whose rules also go into the OpenAPI document. Lengths count characters, as in JSON Schema, not UTF-16 units. Patterns
 * use only what regular expressions of other languages support.
 */
function textField({ messages, ...rules }: TextRules) {
  const pattern = rules.pattern === undefined ? undefined : new RegExp(rules.pattern, 'u');
  return z
    .string()
    .check((context) => {
      const length = [...context.value].length;
      const refuse = (message = '') => context.issues.push({ code: 'custom', input: context.value, message });
      if (length < (rules.minLength ?? 0)) refuse(messages.minLength);
      if (length > rules.maxLength) refuse(messages.maxLength);
      if (pattern && (!pattern.test(context.value) || loneSurrogate.test(context.value))) refuse(messages.pattern);
    })
    .meta(rules);
}

/** A lone surrogate is not valid text, and no pattern of a schema can exclude it. */
const loneSurrogate = /\p{Cs}/u;

const control = '\\x00-\\x1f\\x7f-\\x9f';
/** The characters that `trim` removes, written out because not every language has escapes for them. */
const blank = ' \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff';

/** Text without control characters and lone surrogates, which a store or a terminal may refuse. */
export const personText = (maxLength: number) =>
  textField({
    minLength: 1,
    maxLength,
    pattern: `^[^${control}]*[^${control}${blank}][^${control}]*$`,
    messages: {
      minLength: 'must not be empty',
      maxLength: `must be at most ${maxLength} characters`,
      pattern: 'must not be blank and must not have control characters',
    },
  }).transform((text) => text.trim());

const emailLength = 254;
export const emailAddress = textField({
  maxLength: emailLength,
  pattern: "^ *([A-Za-z0-9_'+-]+\\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9-]*\\.)+[A-Za-z]{2,} *$",
  messages: { maxLength: `must be at most ${emailLength} characters`, pattern: 'must be an email address' },
}).transform((address) => address.trim().toLowerCase());

export const newPassword = textField({
  minLength: passwordLength.min,
  maxLength: passwordLength.max,
  messages: {
    minLength: `is too short. Use at least ${passwordLength.min} characters`,
    maxLength: `is too long. Use at most ${passwordLength.max} characters`,
  },
});

export const countryCode = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'must be an ISO 3166-1 code of two letters')
  .transform((code) => code.toUpperCase());

/** In US dollars. */
export const decimalAmount = z
  .string('must be a decimal amount as text, like "10.00"')
  .regex(/^[0-9]{1,15}(\.[0-9]{1,12})?$/, 'must be an amount like "10.00" of at most twelve decimals, not negative');

/** A limit on requests or tokens; `expected` is the message about another type. */
export const perMinuteLimit = (expected: string) =>
  z.int(expected).min(1, 'must be 1 or greater').max(1_000_000_000, 'must be at most 1000000000').nullable().optional();

export function bodyFields<T>(request: FastifyRequest, schema: z.ZodType<T>): T {
  const body = jsonBody(request);
  const checked = schema.safeParse(body);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw faultOf(issue!, body);
}

export interface FieldFault {
  readonly param: string;
  readonly reason: string;
}

/** Runs a check of fields. `refusalOf` has the row of the error table that the caller's API has for a fault. */
export function withFaults<T>(check: () => T, refusalOf: (fault: FieldFault) => GatewayError): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof GatewayError) || error.condition !== 'field_invalid') throw error;
    throw refusalOf(error.values as unknown as FieldFault);
  }
}

/** Whether a request is for operators, who get a 400 where others get a 422. */
export function isOperators({ routeOptions }: FastifyRequest): boolean {
  return /^\/(admin|dashboard\/api\/operator)\//.test(routeOptions.url ?? '');
}

function faultOf(issue: z.core.$ZodIssue, body: unknown) {
  if (issue.code === 'unrecognized_keys') {
    const param = fieldPath([...issue.path, issue.keys[0]!]).slice(0, 100);
    return gatewayError('field_invalid', { param, reason: 'is not a field of this request' });
  }
  const value = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    body,
  );
  return gatewayError('field_invalid', { param: fieldPath(issue.path), reason: reasonOf(issue, value) });
}

/** `limits.requests_per_minute`; an entry of a list has its number: `trust[0].issuer`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at > 0 ? '.' : ''}${String(step)}`))
    .join('');
}

/** A rule that says what is wrong, and not only what must be, stands alone. */
function reasonOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && /received undefined$/.test(issue.message)) return 'is missing';
  const rule = ruleText(issue);
  if (rule.startsWith('is ')) return rule;
  if (value === undefined) return `is missing: ${rule}`;
  return `is ${issue.path.some((step) => secretFields.has(step)) ? 'not accepted' : shownValue(value)}: ${rule}`;
}

/** Their values are never quoted. */
const secretFields = new Set<PropertyKey>([
  'password',
  'current_password',
  'new_password',
  'admin_token',
  'token',
  'code',
  'secret',
]);

export function shownValue(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function ruleText({ message }: z.core.$ZodIssue): string {
  return message.replace(/^Invalid (input|option): /, '').replace(/\.$/, '');
}
