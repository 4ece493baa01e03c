/** Refusals of requests that the schema allows: they depend on what is stored, on the clock or on a signature, which no schema can say. */
import type { Reply } from '../../support/client.js';

const refusals: readonly { why: string; code?: string; message: RegExp }[] = [
  {
    why: 'The target of an alias must be in the catalogue, and its region served.',
    code: 'invalid_alias_target',
    message: /is not known|does not offer|is not served in|no region-less endpoint|has no routes/,
  },
  {
    why: 'An account has a limited number of aliases.',
    code: 'alias_limit_reached',
    message: /./,
  },
  {
    why: 'An entry of a chain must be in the catalogue and served.',
    code: 'invalid_fallback_model',
    message:
      /has no (provider|model|alias)|no alias|not served|cannot be priced|not configured|not available|does not|none of its/i,
  },
  {
    why: 'A key expires in the future, at most 12 months ahead.',
    code: 'invalid_request_error',
    message: /^`expires` .* must be (in the future|at most 12 months ahead)/,
  },
  {
    why: 'The route must be able to apply the parameter.',
    message: /cannot apply|does not support/,
  },
  {
    why: 'An entry of allowed_models that has no form of an id must be a name of the operator.',
    code: 'invalid_request_error',
    message: /^`allowed_models\[\d+\]` is .* or a name that the operator has given to a model/,
  },
  {
    why: 'What a name stands for must be in the catalogue.',
    code: 'invalid_name_target',
    message: /./,
  },
  { why: 'An account has a limited number of keys.', code: 'key_limit_reached', message: /./ },
  {
    why: 'A password must not be easy to guess.',
    code: 'invalid_request_error',
    message: /^This password (has no more than two|is the email address|is too common)/,
  },
  {
    why: 'Only an account with a password can be an operator.',
    code: 'invalid_request_error',
    message: /^`operator` cannot be set/,
  },
];

export function dependsOnState({ json }: Reply): boolean {
  const { code, message } = json.error ?? {};
  return refusals.some((refusal) => refusal.code === code && refusal.message.test(message));
}
