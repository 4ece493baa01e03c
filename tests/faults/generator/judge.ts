/** What is wrong with an answer to a bad request; nothing, where it is right. */

import type { Answer } from './answer-reader.js';
import type { Expected, Input, Target } from './input.js';

const types = new Set([
  'authentication_error',
  'invalid_request_error',
  'permission_error',
  'not_found',
  'provider_error',
  'provider_unavailable',
  'rate_limit_error',
  'internal_server_error',
]);
const always = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' };
const never = ['server', 'x-powered-by', 'via', 'set-cookie', 'access-control-allow-credentials'];
const messageCharactersMax = 2_000;

interface Envelope {
  error?: { type?: unknown; message?: unknown; code?: unknown; param?: unknown };
}

export function faultsOf(answer: Answer, input: Input, target: Target): string[] {
  const faults = headFaults(answer, input);
  if (answer.status >= 400 && answer.body.length > 0) faults.push(...envelopeFaults(answer));
  if (answer.status >= 400 && answer.body.length === 0 && !input.methods.includes('HEAD')) faults.push('no envelope');
  // Changed bytes may put a token where any text of the caller may be quoted to it.
  const secrets = input.family === 'mutated' ? [] : [target.key, target.adminToken];
  if (secrets.some((secret) => answer.body.includes(secret))) faults.push('the answer repeats a token');
  return [...faults, ...expectationFaults(answer, input.expected)];
}

function headFaults({ status, headers }: Answer, { path }: Input): string[] {
  const faults: string[] = [];
  if (status >= 500) faults.push(`status ${status}`);
  if (!/^req-[0-9a-z]{26}$/.test(headers['x-request-id'] ?? '')) faults.push('no x-request-id');
  if (Number.isNaN(Date.parse(headers.date ?? ''))) faults.push('no date');
  for (const [name, value] of Object.entries(always)) {
    if (headers[name] !== value) faults.push(`${name} is ${headers[name]}`);
  }
  for (const name of never) if (headers[name] !== undefined) faults.push(`the header ${name}`);
  const open = headers['access-control-allow-origin'];
  if (path !== '' && open !== (path.startsWith('/v1/') ? '*' : undefined)) faults.push(`CORS ${open} on ${path}`);
  return faults;
}

function envelopeFaults({ headers, body }: Answer): string[] {
  let envelope: Envelope;
  try {
    envelope = JSON.parse(body.toString()) as Envelope;
  } catch {
    return ['the body is no JSON'];
  }
  const { type, message, code, param, ...others } = envelope.error ?? {};
  const faults: string[] = [];
  if (headers['content-type'] !== 'application/json; charset=utf-8') faults.push(`type ${headers['content-type']}`);
  if (!types.has(String(type))) faults.push(`error.type ${String(type)}`);
  if (typeof message !== 'string' || message === '') faults.push('no error.message');
  else if (message.length > messageCharactersMax) faults.push(`a message of ${message.length} characters`);
  if (typeof code !== 'string') faults.push('no error.code');
  if (param !== undefined && typeof param !== 'string') faults.push('error.param is no string');
  if (Object.keys(others).length > 0 || Object.keys(envelope).length > 1)
    faults.push('more fields than the envelope has');
  return faults;
}

function expectationFaults({ status, body }: Answer, expected: Expected | undefined): string[] {
  if (!expected) return [];
  if (!expected.status.includes(status)) {
    return [`status ${status}, but ${expected.status.join(' or ')} is right: ${body.toString('utf8', 0, 300)}`];
  }
  const { error = {} } = status >= 400 && body.length > 0 ? (JSON.parse(body.toString()) as Envelope) : {};
  const faults: string[] = [];
  for (const name of ['code', 'param'] as const) {
    const right = expected[name];
    if (right && body.length > 0 && !right.includes((error[name] as string | undefined) ?? null)) {
      faults.push(
        `${name} ${String(error[name])}, but ${right.join(' or ')} is right: ${body.toString('utf8', 0, 300)}`,
      );
    }
  }
  return faults;
}
