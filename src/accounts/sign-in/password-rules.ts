/** What a new password must be: of a sensible length, and none that somebody who guesses tries first. */
import { gatewayError } from '../../errors/gateway-error.js';

export const passwordLength = { min: 8, max: 128 } as const;

export interface PasswordOwner {
  email: string;
  name?: string | null | undefined;
}

/** Throws field_invalid. `param` is the field that the password was sent in; its length has been checked. */
export async function checkNewPassword(param: string, password: string, owner: PasswordOwner): Promise<void> {
  const reason = await weaknessOf(password, owner);
  if (reason !== null)
    throw gatewayError('field_invalid', {
      param,
      reason: `${reason}. Choose another password, such as four random words`,
    });
}

async function weaknessOf(password: string, { email, name }: PasswordOwner): Promise<string | null> {
  const lower = password.trim().toLowerCase();
  if (new Set(lower).size <= 2) return 'has no more than two different characters';
  const own = [email, email.split('@', 1)[0], name].map((text) => text?.trim().toLowerCase());
  if (own.includes(lower) || own.includes(lower.replace(/[^\p{L}]+$/u, '')))
    return 'is the email address or the name of the account';
  const common = await commonPasswords();
  // "Password1!" is tried as soon as "password1".
  return common.has(lower) || common.has(lower.replace(/[^\p{L}\p{N}]+$/u, ''))
    ? 'is one of the most common passwords'
    : null;
}

let loading: Promise<ReadonlySet<string>> | undefined;

/** Some 18,000. Loaded when somebody first sets a password: a gateway whose dashboard nobody opens does not pay for them. */
function commonPasswords(): Promise<ReadonlySet<string>> {
  loading ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'].filter((entry) => entry.length >= passwordLength.min)),
  );
  return loading;
}
